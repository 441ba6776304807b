"""A plain reference of gather and scatter, an element of a window at a time."""

import operator
from collections.abc import Iterator, Sequence

import numpy as np

from irax_compiler.ops.reductions.window_shapes import WindowDims

COMBINE = {
    "set": lambda old, new: new,
    "add": operator.add,
    "multiply": operator.mul,
    "maximum": max,
    "minimum": min,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}


def windows(
    indices: np.ndarray, dims: WindowDims, rank: int
) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """The place among the batch dimensions, and the start in the array, of every window."""
    if dims.index_vector_dim == indices.ndim:
        indices = indices[..., None]
    d = dims.index_vector_dim
    for batch in np.ndindex(*indices.shape[:d], *indices.shape[d + 1 :]):
        start = [0] * rank
        for element, dim in enumerate(dims.index_map):
            start[dim] = int(indices[(*batch[:d], element, *batch[d:])])
        for dim, along in zip(dims.operand_batching_dims, dims.indices_batching_dims, strict=True):
            start[dim] = batch[along - (along > d)]
        yield batch, start


def place_in_windows(
    dims: WindowDims, batch: Sequence[int], offset: Sequence[int]
) -> tuple[int, ...]:
    """The index of element `offset` of window `batch` in the array of all windows."""
    apart = dims.collapsed_dims + dims.operand_batching_dims
    within = iter([o for d, o in enumerate(offset) if d not in apart])
    outer = iter(batch)
    count = len(batch) + len(dims.window_dims)
    return tuple(next(within) if d in dims.window_dims else next(outer) for d in range(count))


def gather_by_loops(
    x: np.ndarray, indices: np.ndarray, dims: WindowDims, sizes: Sequence[int]
) -> np.ndarray:
    found = {}
    for batch, start in windows(indices, dims, x.ndim):
        start = [min(max(s, 0), n - w) for s, n, w in zip(start, x.shape, sizes, strict=True)]
        for offset in np.ndindex(*sizes):
            place = place_in_windows(dims, batch, offset)
            found[place] = x[tuple(map(operator.add, start, offset))]
    result = np.zeros(np.max([*found], axis=0, initial=-1) + 1, x.dtype)
    for place, value in found.items():
        result[place] = value
    return result


def scatter_by_loops(
    x: np.ndarray, indices: np.ndarray, updates: np.ndarray, dims: WindowDims, combiner: str
) -> np.ndarray:
    sizes = dims.sizes(x.shape, updates.shape)
    result = x.copy()
    for batch, start in windows(indices, dims, x.ndim):
        if all(0 <= s <= n - w for s, n, w in zip(start, x.shape, sizes, strict=True)):
            for offset in np.ndindex(*sizes):
                place = tuple(map(operator.add, start, offset))
                update = updates[place_in_windows(dims, batch, offset)]
                result[place] = COMBINE[combiner](result[place], update)
    return result
