"""Complex arithmetic on separate real and imaginary parts, which can be vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.ops import comparison, conversion, elementwise, fft
from irax_compiler.ops.core import full_like, zeros_like

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


def _converted(operation: Operation, known: Parts) -> Sequence[Value]:
    (x,), target = operation.operands, dtype_of(operation.results[0])
    if target.kind != "c":
        return [conversion.convert(parts_of(x, known)[0], target)]
    converted = [conversion.convert(y, fft.real_dtype(target)) for y in parts_of(x, known)]
    return converted if len(converted) == 2 else (converted[0], zeros_like(converted[0]))


RULES: dict[str, Rule] = {
    "stablehlo.add": _of_each,
    "stablehlo.complex": lambda operation, known: list(operation.operands),
    "stablehlo.convert": _converted,
    "stablehlo.imag": lambda operation, known: parts_of(operation.operands[0], known)[1:],
    "stablehlo.multiply": _product,
    "stablehlo.negate": _of_each,
    "stablehlo.real": lambda operation, known: parts_of(operation.operands[0], known)[:1],
    "stablehlo.select": _choice,
    "stablehlo.subtract": _of_each,
}
"""Operations on complex numbers, as operations on their parts."""
