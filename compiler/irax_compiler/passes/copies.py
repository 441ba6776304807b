"""Copies of values to fresh memory, which no later pass sees through."""

from __future__ import annotations

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops import comparison
from irax_compiler.ops.core import dtype_of_places, full, full_like
from irax_compiler.ops.shape import Iota
from irax_compiler.sizes import is_symbolic

_UNKNOWN = "irax.unknown"


def copy(x: Value, number: int) -> Value:
    """Copy a value to fresh memory, by a selection with a condition that always holds, which IREE
    does not detect.

    Where `x` is computed elementwise the choice becomes part of that, and costs next to nothing.
    Copies of one array must stay apart: each has another condition, and so has each `number`.
    """
    shape = shape_of(x)
    if 0 in shape:
        return x
    unknown = next((n for n in shape if is_symbolic(n)), None)
    size = max(shape, default=1) if unknown is None else unknown
    dtype = dtype_of_places(size)
    if size == unknown or size > 1:
        index = Iota(shape, dtype, shape.index(size))()
    else:
        zero = full(shape, 0, dtype)
        index = mlir.emit("stablehlo.optimization_barrier", [zero], results=[zero.type]).results[0]
    before = sum(use.owner.operation.name == "stablehlo.select" for use in x.uses)
    always = comparison.greater_equal(index, full(shape, -before - 1024 * number, dtype))
    _keep_unknown(always)
    return comparison.select(always, x, full_like(x, 1 if _is_zeros(x) else 0))


def _is_zeros(x: Value) -> bool:
    """True for zeros of unknown size, between which and others there would be no choice."""
    source = mlir.definition(x)
    if source is None or not any(map(is_symbolic, shape_of(x))) or not len(source.operands):
        return False
    splat = mlir.splat(source.operands[0])
    return splat is not None and not splat


def _keep_unknown(x: Value) -> None:
    """Keep a value from being folded, though it follows from constants."""
    source = mlir.definition(x)
    assert source is not None
    source.attributes[_UNKNOWN] = mlir.parse_attribute("unit")


def is_kept_unknown(operation: Operation) -> bool:
    """True for an operation whose result is not to be folded."""
    return _UNKNOWN in operation.attributes
