"""Interval analysis of integers: static bounds of their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import clamp, comparison, conversion, elementwise, shape, slicing
from irax_compiler.ops.control_flow.trip_counts import count
from irax_compiler.ops.core import UnsupportedOp, no_calls
from irax_compiler.ops.reductions.window_shapes import WindowDims
from irax_compiler.ops.registry import read
from irax_compiler.sizes import is_symbolic

Bounds = tuple[np.ndarray, np.ndarray]
"""The least and the greatest that each element can be, both of the array's shape and int64."""

_DEPTH = 16  # how many operations to look back
_SIZE = 2**20  # of larger arrays nothing is told: that would take longer than it saves
_MOVING = (
    shape.BroadcastInDim,
    slicing.Concatenate,
    shape.Reshape,
    slicing.Reverse,
    slicing.Slice,
    shape.Transpose,
)
_GROWING = (elementwise.add, elementwise.maximum, elementwise.minimum, clamp.clamp)


def bounds(x: Value, depth: int = _DEPTH) -> Bounds:
    """Bounds of an array of integers; those of its dtype where nothing else is known."""
    info = np.iinfo(dtype_of(x))
    least, greatest = info.min, min(info.max, np.iinfo(np.int64).max)
    if depth and np.prod(shape_of(x)) <= _SIZE:
        low, high = _of_result(x, depth) or (np.array(1), np.array(0))
        # Beyond the dtype's own bounds the operation wraps around.
        if np.all(low >= least) and np.all(low <= high) and np.all(high <= greatest):
            return low, high
    return np.broadcast_to(least, shape_of(x)), np.broadcast_to(greatest, shape_of(x))


def _of_result(x: Value, depth: int) -> Bounds | None:
    operation = mlir.definition(x)
    if operation is None:
        return _of_counter(x)
    try:
        op = read(operation)
    except UnsupportedOp:
        return None
    if isinstance(op, shape.Constant | shape.Iota):
        value = op.evaluate(no_calls).astype(np.int64)
        return value, value
    operands = list(operation.operands)
    if isinstance(op, comparison.Select):
        operands = operands[1:]
    if any(dtype_of(operand).kind not in "iu" for operand in operands):
        return None
    found = [bounds(operand, depth - 1) for operand in operands]
    lows, highs = [low for low, _ in found], [high for _, high in found]
    if op is elementwise.subtract:
        return lows[0] - highs[1], highs[0] - lows[1]
    if isinstance(op, comparison.Select):
        return np.minimum(*lows), np.maximum(*highs)
    if isinstance(op, conversion.Convert):
        return None if dtype_of(operands[0]) == np.uint64 else found[0]
    if isinstance(op, _MOVING) or op in _GROWING:
        # Greater operands give greater results.
        low, high = (op.evaluate(no_calls, *each) for each in (lows, highs))
        return np.asarray(low), np.asarray(high)
    return None


def _of_counter(x: Value) -> Bounds | None:
    """Return the bounds, in its body, of the counter of a loop with a known trip count."""
    if mlir.owner_name(x) != "stablehlo.while":
        return None
    argument: Any = x
    loop = argument.owner.owner.operation
    how = None if argument.owner == loop.regions[0].blocks[0] else count(loop, {})
    if how is None or how.place != argument.arg_number or not how.steps:
        return None
    return np.array(how.start), np.array(how.start + (how.steps - 1) * how.step)


def stay_within(
    dims: WindowDims, indices: Value, array: Sequence[int], sizes: Sequence[int]
) -> bool:
    """True if all windows of a gather or scatter are known to lie within the array."""
    if any(map(is_symbolic, (*shape_of(indices), *array, *sizes))):
        return False
    low, high = bounds(indices)
    limits = np.array([array[d] - sizes[d] for d in dims.index_map], np.int64)
    if dims.index_vector_dim < high.ndim:
        high = np.moveaxis(high, dims.index_vector_dim, -1)
    return bool(np.all(low >= 0) and np.all(high <= limits))
