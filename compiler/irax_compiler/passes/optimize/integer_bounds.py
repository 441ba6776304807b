"""Interval analysis of integers: static bounds of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import clamp, comparison, conversion, elementwise, shape, slicing
from irax_compiler.ops.control_flow.trip_counts import bounds_after, bounds_in_body
from irax_compiler.ops.core import UnsupportedOp, no_calls
from irax_compiler.ops.reductions.window_shapes import WindowDims
from irax_compiler.ops.registry import read
from irax_compiler.sizes import is_symbolic

Bounds = tuple[np.ndarray, np.ndarray]
"""The least and the greatest that each element can be, both of the array's shape and int64."""

_DEPTH = 16  # how many operations to look back
_SIZE = 2**20  # of larger arrays nothing is told: that would take longer than it saves
_FACTOR = 2**31  # products of smaller numbers are no larger than int64
_MOVING = (
    shape.BroadcastInDim,
    slicing.Concatenate,
    shape.Reshape,
    slicing.Reverse,
    slicing.Slice,
    shape.Transpose,
)
_LARGEST = 2**62
"""Sums and differences of numbers up to this size fit into int64."""
_GROWING = (elementwise.add, elementwise.maximum, elementwise.minimum, clamp.clamp)


def bounds(
    x: Value, depth: int = _DEPTH, functions: Mapping[str, Operation] = MappingProxyType({})
) -> Bounds:
    """Bounds of an array of integers; those of its dtype where nothing else is known, up to the
    largest number of int64. `functions` are those that regions of loops around it may call.
    """
    info = np.iinfo(dtype_of(x))
    least, greatest = info.min, min(info.max, np.iinfo(np.int64).max)
    if depth and np.prod(shape_of(x)) <= _SIZE:
        low, high = _of_result(x, depth, functions) or (np.array(1), np.array(0))
        # Beyond the dtype's own bounds the operation wraps around.
        if np.all(low >= least) and np.all(low <= high) and np.all(high <= greatest):
            return low, high
    return np.broadcast_to(least, shape_of(x)), np.broadcast_to(greatest, shape_of(x))


def bounds_of_one(
    x: Value, depth: int = _DEPTH, functions: Mapping[str, Operation] = MappingProxyType({})
) -> tuple[int, int] | None:
    """Return the bounds of an array of one integer; None for any other array."""
    if dtype_of(x).kind not in "iu" or any(n != 1 for n in shape_of(x)):
        return None
    low, high = bounds(x, depth, functions)
    return int(low.item()), int(high.item())


def _of_result(x: Value, depth: int, functions: Mapping[str, Operation]) -> Bounds | None:
    operation = mlir.definition(x)
    if operation is None:
        return _in_loop(x, depth, functions)
    if operation.name == "stablehlo.while":
        results: list[Value] = list(operation.results)
        place = results.index(x)
        inner = partial(bounds_of_one, depth=depth - 1, functions=functions)
        ends = None if shape_of(x) else bounds_after(operation, place, functions, inner)
        return None if ends is None else (np.array(ends[0]), np.array(ends[1]))
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
    found = [bounds(operand, depth - 1, functions) for operand in operands]
    lows, highs = [low for low, _ in found], [high for _, high in found]
    ends = (*lows, *highs)
    is_sum = op is elementwise.add or op is elementwise.subtract
    if is_sum and any(np.any((end < -_LARGEST) | (end > _LARGEST)) for end in ends):
        return None
    if op is elementwise.subtract:
        return lows[0] - highs[1], highs[0] - lows[1]
    if op is elementwise.multiply:
        corners = [x * y for x in found[0] for y in found[1]]
        fits = all(np.all((x > -_FACTOR) & (x < _FACTOR)) for x in ends)
        return (np.min(corners, 0), np.max(corners, 0)) if fits else None
    if isinstance(op, comparison.Select):
        return np.minimum(*lows), np.maximum(*highs)
    if isinstance(op, conversion.Convert):
        return None if dtype_of(operands[0]) == np.uint64 else found[0]
    if isinstance(op, _MOVING) or op in _GROWING:
        # Greater operands give greater results.
        low, high = (op.evaluate(no_calls, *each) for each in (lows, highs))
        return np.asarray(low), np.asarray(high)
    return None


def _in_loop(x: Value, depth: int, functions: Mapping[str, Operation]) -> Bounds | None:
    """Return the bounds, in the body of a loop, of a counter or of what it carries unchanged."""
    if mlir.owner_name(x) != "stablehlo.while" or shape_of(x):
        return None
    argument: Any = x
    loop = argument.owner.owner.operation
    if argument.owner == loop.regions[0].blocks[0]:
        return None
    inner = partial(bounds_of_one, depth=depth - 1, functions=functions)
    found = bounds_in_body(loop, argument.arg_number, functions, inner)
    return None if found is None else (np.array(found[0]), np.array(found[1]))


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
