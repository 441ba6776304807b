"""Complex arithmetic on separate real and imaginary parts, which can be vectors.

    known = {}
    if has_rule(operation):
        x = by_parts(operation, known)      builds real operations in its place

`in_parts` states an op's rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import bitwise, clamp, comparison, conversion, elementwise, fft, shape
from irax_compiler.ops.core import Op, full_like, zeros_like
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
"""Builds the parts of an operation's result."""

_RULES: dict[str, Rule] = {}


def in_parts(*ops: Op | type[Op]) -> Callable[[Rule], Rule]:
    """Decorator for the rule of some ops on complex numbers."""

    def stated(rule: Rule) -> Rule:
        _RULES.update((op.name, rule) for op in ops)
        return rule

    return stated


def has_rule(operation: Operation) -> bool:
    """True if an operation is on complex numbers, and its op has a rule."""
    return has_parts(operation) and operation.name in _RULES


def by_parts(operation: Operation, known: Parts) -> Value:
    """Build an operation's result from that of its op's rule."""
    return together(_RULES[operation.name](operation, known), known)


@in_parts(elementwise.add, elementwise.subtract, elementwise.negate)
def _of_each(operation: Operation, known: Parts) -> Sequence[Value]:
    """Apply the op to both parts."""
    operands = [parts_of(x, known) for x in operation.operands]
    return [
        mlir.emit(operation.name, list(part)).results[0] for part in zip(*operands, strict=True)
    ]


@in_parts(elementwise.multiply)
def _product(operation: Operation, known: Parts) -> Sequence[Value]:
    (a, b), (c, d) = (parts_of(x, known) for x in operation.operands)
    multiply = elementwise.multiply
    return (
        elementwise.subtract(multiply(a, c), multiply(b, d)),
        elementwise.add(multiply(a, d), multiply(b, c)),
    )


@in_parts(comparison.select)
def _choice(operation: Operation, known: Parts) -> Sequence[Value]:
    which, *either = operation.operands
    both = [parts_of(x, known) for x in either]
    return [comparison.select(which, x, y) for x, y in zip(*both, strict=True)]


@in_parts(comparison.Compare)
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


@in_parts(elementwise.maximum)
def _maximum(operation: Operation, known: Parts) -> Sequence[Value]:
    return _chosen(comparison.greater, *(parts_of(x, known) for x in operation.operands))


@in_parts(elementwise.minimum)
def _minimum(operation: Operation, known: Parts) -> Sequence[Value]:
    return _chosen(comparison.less, *(parts_of(x, known) for x in operation.operands))


@in_parts(clamp.Clamp)
def _clamped(operation: Operation, known: Parts) -> Sequence[Value]:
    extents = shape_of(operation.results[0])
    low, x, high = (
        [shape.broadcast_scalar(part, extents) for part in parts_of(y, known)]
        for y in operation.operands
    )
    return _chosen(comparison.less, _chosen(comparison.greater, x, low), high)


@in_parts(conversion.Convert)
def _converted(operation: Operation, known: Parts) -> Sequence[Value]:
    (x,), target = operation.operands, dtype_of(operation.results[0])
    if target.kind != "c":
        return [conversion.convert(parts_of(x, known)[0], target)]
    converted = [conversion.convert(y, fft.real_dtype(target)) for y in parts_of(x, known)]
    return converted if len(converted) == 2 else (converted[0], zeros_like(converted[0]))


@in_parts(elementwise.complex_)
def _given(operation: Operation, known: Parts) -> Sequence[Value]:
    return list(operation.operands)


@in_parts(elementwise.real)
def _real(operation: Operation, known: Parts) -> Sequence[Value]:
    return parts_of(operation.operands[0], known)[:1]


@in_parts(elementwise.imag)
def _imaginary(operation: Operation, known: Parts) -> Sequence[Value]:
    return parts_of(operation.operands[0], known)[1:]
