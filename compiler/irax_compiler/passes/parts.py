"""Complex arithmetic on separate real and imaginary parts, which can be vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import bitwise, comparison, conversion, elementwise, fft, shape
from irax_compiler.ops.core import full_like, zeros_like
from irax_compiler.ops.registry import read

Parts = dict[Value, Sequence[Value]]
"""Known real and imaginary parts of complex values."""


def is_complex(x: Value) -> bool:
    """True if the elements of a value are complex numbers."""
    return dtype_of(x).kind == "c"


def has_parts(operation: Operation) -> bool:
    """True if an operation has complex operands or results."""
    return any(map(is_complex, (*operation.operands, *operation.results)))


def parts_of(x: Value, known: Parts) -> Sequence[Value]:
    """Return the real and the imaginary part of a value; a real value itself."""
    if not is_complex(x):
        return [x]
    if x not in known:
        fill: Any = mlir.splat(x)
        if fill is None:
            known[x] = (elementwise.real(x), elementwise.imag(x))
        else:
            model = elementwise.real(x)
            known[x] = (full_like(model, fill.real), full_like(model, fill.imag))
    return known[x]


def together(found: Sequence[Value], known: Parts) -> Value:
    """Build a value from its parts, which are then known."""
    if len(found) == 1:
        return found[0]
    result = elementwise.complex_(*found)
    known[result] = found
    return result


Rule = Callable[[Operation, Parts], Sequence[Value]]


def _of_each(operation: Operation, known: Parts) -> Sequence[Value]:
    """Make a rule that applies an op to both parts."""
    operands = [parts_of(x, known) for x in operation.operands]
    return [
        mlir.emit(operation.name, list(part)).results[0] for part in zip(*operands, strict=True)
    ]


def _product(operation: Operation, known: Parts) -> Sequence[Value]:
    (a, b), (c, d) = (parts_of(x, known) for x in operation.operands)
    multiply = elementwise.multiply
    return (
        elementwise.subtract(multiply(a, c), multiply(b, d)),
        elementwise.add(multiply(a, d), multiply(b, c)),
    )


def _choice(operation: Operation, known: Parts) -> Sequence[Value]:
    which, *either = operation.operands
    both = [parts_of(x, known) for x in either]
    return [comparison.select(which, x, y) for x, y in zip(*both, strict=True)]


def _comparison(operation: Operation, known: Parts) -> Sequence[Value]:
    """Numbers are equal if both parts are; those that differ in a part are not."""
    (a, b), (c, d) = (parts_of(x, known) for x in operation.operands)
    compare = read(operation)
    both = compare(a, c), compare(b, d)
    is_equal = isinstance(compare, comparison.Compare) and compare.comparison_direction == "EQ"
    return [(bitwise.and_ if is_equal else bitwise.or_)(*both)]


def _chosen(compare: comparison.Compare, x: Sequence[Value], y: Sequence[Value]) -> Sequence[Value]:
    """Return x where it compares so with y in the order of pairs (real, imaginary), else y."""
    ties = comparison.select(comparison.equal(x[0], y[0]), compare(x[1], y[1]), compare(x[0], y[0]))
    return [comparison.select(ties, a, b) for a, b in zip(x, y, strict=True)]


def _extremum(compare: comparison.Compare) -> Rule:
    return lambda operation, known: _chosen(
        compare, *(parts_of(x, known) for x in operation.operands)
    )


def _clamped(operation: Operation, known: Parts) -> Sequence[Value]:
    extents = shape_of(operation.results[0])
    low, x, high = (
        [shape.broadcast_scalar(part, extents) for part in parts_of(y, known)]
        for y in operation.operands
    )
    return _chosen(comparison.less, _chosen(comparison.greater, x, low), high)


def _converted(operation: Operation, known: Parts) -> Sequence[Value]:
    (x,), target = operation.operands, dtype_of(operation.results[0])
    if target.kind != "c":
        return [conversion.convert(parts_of(x, known)[0], target)]
    converted = [conversion.convert(y, fft.real_dtype(target)) for y in parts_of(x, known)]
    return converted if len(converted) == 2 else (converted[0], zeros_like(converted[0]))


RULES: dict[str, Rule] = {
    "stablehlo.add": _of_each,
    "stablehlo.clamp": _clamped,
    "stablehlo.compare": _comparison,
    "stablehlo.complex": lambda operation, known: list(operation.operands),
    "stablehlo.convert": _converted,
    "stablehlo.imag": lambda operation, known: parts_of(operation.operands[0], known)[1:],
    "stablehlo.maximum": _extremum(comparison.greater),
    "stablehlo.minimum": _extremum(comparison.less),
    "stablehlo.multiply": _product,
    "stablehlo.negate": _of_each,
    "stablehlo.real": lambda operation, known: parts_of(operation.operands[0], known)[:1],
    "stablehlo.select": _choice,
    "stablehlo.subtract": _of_each,
}
"""Operations on complex numbers, as operations on their parts."""
