"""Gathers whose windows beyond the array are replaced by a fill value."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import bitwise, comparison, shape, slicing
from irax_compiler.ops.indexing.gather_scatter import Gather
from irax_compiler.passes.matching import made_by, only_user

Bound = tuple[Value, str, int]
"""A condition on a value: it is at least ("GE") or at most ("LE") a number."""


def filled(op: Gather, operation: Operation) -> tuple[Value, np.ndarray] | None:
    """Return the result of the select that fills a gather's windows beyond the array, and the
    element that it fills them with; None if the gather has other uses.
    """
    (found,) = operation.results
    user = only_user(found)
    if user is None or user.name != comparison.Select.name:
        return None
    mask, on_true, on_false = user.operands
    fill = mlir.splat(on_false)
    if on_true != found or fill is None or not _is_inside(mask, op, operation):
        return None
    return user.results[0], fill


def _is_inside(mask: Value, op: Gather, operation: Operation) -> bool:
    """True if a mask holds for the windows within the array."""
    (x, indices), windows = operation.operands, shape_of(operation.results[0])
    batch = tuple(d for d in range(len(windows)) if d not in op.dims.window_dims)
    spread = made_by(mask, shape.BroadcastInDim)
    if spread is not None and spread.op.broadcast_dimensions == batch:
        mask = spread.operand
    if shape_of(mask) != tuple(windows[d] for d in batch):
        return False
    elements = _elements(indices, op)
    if len(elements) != len(op.dims.index_map):
        return False
    most = int(np.iinfo(dtype_of(indices)).max)
    expected: set[Bound | None] = set()
    for element, d in zip(elements, op.dims.index_map, strict=True):
        limit = shape_of(x)[d] - op.slice_sizes[d]
        expected |= {(element, "GE", 0), (element, "LE", min(limit, most))}
    return set(_bounds(mask)) == expected


def _elements(indices: Value, op: Gather) -> list[Value]:
    """Return the arrays of which the index vectors are a concatenation, or the indices."""
    parts = made_by(indices, slicing.Concatenate)
    if parts is None or parts.op.dimension != op.dims.index_vector_dim:
        return [_reshaped(indices)]
    return [_reshaped(x) for x in parts.operands]


def _bounds(mask: Value) -> Iterator[Bound | None]:
    """Yield the bounds whose conjunction a mask is, and None for another condition."""
    mask = _reshaped(mask)
    both = made_by(mask, bitwise.and_)
    if both is None:
        yield _bound(mask)
    else:
        for part in both.operands:
            yield from _bounds(part)


def _bound(condition: Value) -> Bound | None:
    compared = made_by(condition, comparison.Compare)
    if compared is None or dtype_of(compared.operand).kind not in "iu":
        return None
    direction, (x, y) = compared.op.comparison_direction, compared.operands
    if mlir.splat(x) is not None:
        direction, x, y = direction.translate(_MIRRORED), y, x
    number = mlir.splat(y)
    if number is None or direction[0] not in "LG":
        return None
    beyond = {"LT": -1, "GT": 1}.get(direction, 0)
    return _reshaped(x), direction[0] + "E", int(number) + beyond


_MIRRORED = str.maketrans("LG", "GL")


def _reshaped(x: Value) -> Value:
    """Return the value of which another is a reshape, or itself."""
    found = made_by(x, shape.Reshape)
    return x if found is None else _reshaped(found.operand)
