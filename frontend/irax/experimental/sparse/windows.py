"""Windows of sparse arrays: those that arrays of indices name, and convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array, as_array
from irax.core.avals import ShapeDtypeStruct
from irax.core.dtypes.strictness import library
from irax.execution.shapes import eval_shape
from irax.experimental.sparse.bcoo import BCOO
from irax.experimental.sparse.layouts import bcoo_update_layout
from irax.experimental.sparse.parts import bcoo_dynamic_slice
from irax.experimental.sparse.structure import bcoo_reshape, bcoo_squeeze, bcoo_transpose
from irax.lax.gathering import GatherDimensionNumbers, GatherScatterMode
from irax.transforms.vmap import vmap


@library
def bcoo_gather(
    operand: BCOO,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: GatherScatterMode | str | None = None,
    fill_value: Any = None,
) -> BCOO:
    """Return the windows of a sparse array that begin at index vectors, as `lax.gather` does.

    Each window has as many values as the array, or fewer where it is small.

    Args:
        operand: the sparse array.
        start_indices: integers; the last dimension holds the index vectors.
        dimension_numbers: those of `lax.gather`; no batching dimensions.
        slice_sizes: the size of a window in each dimension.
        unique_indices: accepted.
        indices_are_sorted: accepted.
        mode: windows are moved so as to lie within the array, or are promised to.
        fill_value: accepted.

    Raises:
        NotImplementedError: another mode, or batching dimensions.
        TypeError: numbers that do not fit the shapes.
    """
    what = "bcoo_gather"
    parsed = GatherScatterMode.PROMISE_IN_BOUNDS if mode is None else mode
    kept = (GatherScatterMode.PROMISE_IN_BOUNDS, GatherScatterMode.CLIP)
    if GatherScatterMode.from_any(parsed) not in kept:
        raise NotImplementedError(f"{what}: mode={mode} is not supported: give 'clip'")
    numbers = GatherDimensionNumbers(*dimension_numbers)
    if numbers.operand_batching_dims:
        raise NotImplementedError(f"{what}: batching dimensions are not supported: use vmap")
    starts = as_array(start_indices, f"{what}: start_indices")
    types = ShapeDtypeStruct(operand.shape, operand.dtype), starts
    out = eval_shape(lambda x, i: lax.gather(x, i, numbers, slice_sizes), *types)
    windows = _windows(operand, starts, numbers, slice_sizes)
    return _arranged(windows, starts, numbers, len(out.shape))


def _windows(
    operand: BCOO, starts: Array, numbers: GatherDimensionNumbers, sizes: Sequence[int]
) -> BCOO:
    """All windows, along a first dimension of the batch."""
    shape: list[int] = []

    def window(vector: Array) -> tuple[Array, Array]:
        full: list[Any] = [0] * operand.ndim
        for i, dimension in enumerate(numbers.start_index_map):
            full[dimension] = vector[i]
        part = bcoo_dynamic_slice(operand, full, sizes)
        part = bcoo_squeeze(part, dimensions=numbers.collapsed_slice_dims)
        shape[:] = part.shape
        return part.whole()

    pairs = vmap(window)(starts.reshape(-1, starts.shape[-1]))
    return BCOO(pairs, shape=(prod(starts.shape[:-1]), *shape))


def _arranged(found: BCOO, starts: Array, numbers: GatherDimensionNumbers, rank: int) -> BCOO:
    """The windows, with the dimensions of the index vectors and of windows in their places."""
    count = starts.ndim - 1
    if count != 1:
        if count:
            found = bcoo_update_layout(found, n_batch=1, on_inefficient=None)
        found = bcoo_reshape(found, new_sizes=(*starts.shape[:-1], *found.shape[1:]))
    offset = tuple(numbers.offset_dims)
    order = [*(d for d in range(rank) if d not in offset), *offset]
    permutation = [order.index(d) for d in range(rank)]
    if any(d >= found.n_batch for d in permutation[: found.n_batch]):
        found = bcoo_update_layout(found, n_batch=0, on_inefficient=None)
    return bcoo_transpose(found, permutation=permutation)


@library
def bcoo_conv_general_dilated(
    lhs: Any,
    rhs: Any,
    *,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> BCOO:
    """Return the convolution of rows, sparse or dense, of shape (1, 1, n), as
    `lax.conv_general_dilated` does.

    Each value of the one meets each of the other: the result has as many values as their product.

    Args:
        lhs: the row.
        rhs: the kernel.
        window_strides: (1,).
        padding: the numbers of zeros before and after the row, "SAME" or "VALID".
        lhs_dilation: (1,).
        rhs_dilation: (1,).
        dimension_numbers: those of the default.
        feature_group_count: 1.
        batch_group_count: 1.
        precision: accepted.
        preferred_element_type: accepted.

    Raises:
        NotImplementedError: another number of dimensions, of channels or of groups, or steps.
    """
    what = "bcoo_conv_general_dilated"
    shapes = lhs.shape, rhs.shape
    numbers = lax.conv_dimension_numbers(*shapes, dimension_numbers)
    steps = [*window_strides, *(lhs_dilation or ()), *(rhs_dilation or ())]
    is_plain = (
        all(len(shape) == 3 and tuple(shape[:2]) == (1, 1) for shape in shapes)
        and all(spec[2] == 2 for spec in numbers)
        and set(steps) == {1}
        and feature_group_count == batch_group_count == 1
    )
    if not is_plain:
        raise NotImplementedError(
            f"{what}: expected rows of shape (1, 1, n), steps of 1 and no groups, got {lhs!r} and "
            f"{rhs!r}"
        )
    if isinstance(padding, str):
        padding = lax.padtype_to_pads(lhs.shape[2:], rhs.shape[2:], (1,), padding)
    ((low, high),) = padding
    (x, at), (kernel, tap) = _row(lhs), _row(rhs)
    length = max(0, lhs.shape[2] + low + high - rhs.shape[2] + 1)
    data = (x[:, None] * kernel).ravel()
    indices = (at[:, None] - tap + low).ravel()
    inside = (indices >= 0) & (indices < length)
    indices = jnp.where(inside, indices, length)
    data = jnp.where(inside, data, 0)
    return BCOO((data[None, None], indices[None, None, :, None]), shape=(1, 1, length))


def _row(mat: Any) -> tuple[Array, Array]:
    """The values of a row and their places."""
    if not isinstance(mat, BCOO):
        row = as_array(mat, "bcoo_conv_general_dilated")[0, 0]
        return row, jnp.arange(len(row))
    data, indices = bcoo_update_layout(mat, n_batch=2, n_dense=0, on_inefficient=None).whole()
    places = indices[0, 0, :, 0]
    return jnp.where(places < mat.shape[2], data[0, 0], 0), places
