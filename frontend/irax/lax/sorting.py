"""Elements in order."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from irax.array import Array
from irax.elementwise import as_arrays
from irax.lax.arguments import array_of, canonical_axis
from irax.lax.slicing import slice_in_dim
from irax.lax.structure import broadcasted_iota
from irax.tracing import bind
from irax.typing import ArrayLike
from irax_compiler.ops import sort as ops


def sort(
    operand: ArrayLike | Sequence[ArrayLike],
    dimension: int = -1,
    is_stable: bool = True,
    num_keys: int = 1,
) -> Any:
    """The elements in ascending order along a dimension; nan comes last.

    Args:
        operand: an array; or a sequence of arrays of one shape, which are reordered together.
        dimension: along which to sort.
        is_stable: whether equal elements keep their order.
        num_keys: how many of the arrays, from the first on, are compared.

    Returns:
        An array, or for a sequence a tuple of arrays.

    Raises:
        TypeError: different shapes.
        ValueError: `num_keys` is not between 1 and the number of arrays.

    >>> irax.lax.sort((irax.numpy.array([3, 1]), irax.numpy.array([7.0, 8.0])))
    (Array([1, 3], dtype=int32), Array([8., 7.], dtype=float32))
    """
    what = "lax.sort"
    single = not isinstance(operand, tuple | list)
    arrays = as_arrays([operand] if single else list(operand), what)
    if not 1 <= num_keys <= len(arrays):
        raise ValueError(f"{what}: num_keys must be 1 to {len(arrays)}, got {num_keys}")
    if len({x.shape for x in arrays}) > 1:
        listed = " and ".join(str(x.shape) for x in arrays)
        raise TypeError(f"{what}: got shapes {listed}; expected arrays of one shape")
    axis = canonical_axis(what, dimension, arrays[0].ndim)
    op = ops.Sort(axis, is_stable, ops.Order(num_keys))
    results = [
        r.with_weak_type(x.weak_type) if x.weak_type else r
        for r, x in zip(bind(op, *arrays), arrays, strict=True)
    ]
    return results[0] if single else tuple(results)


def sort_key_val(
    keys: ArrayLike, values: ArrayLike, dimension: int = -1, is_stable: bool = True
) -> tuple[Array, Array]:
    """The keys in ascending order, and the values in the order of the keys.

    >>> irax.lax.sort_key_val(irax.numpy.array([3, 1]), irax.numpy.array([7, 8]))
    (Array([1, 3], dtype=int32), Array([8, 7], dtype=int32))
    """
    return sort((keys, values), dimension, is_stable)


def top_k(operand: ArrayLike, k: int, *, axis: int = -1) -> tuple[Array, Array]:
    """The k largest elements along an axis, in descending order, and their indices.

    Of equal elements the one that comes first goes first; nan counts as largest.

    Raises:
        ValueError: k is negative or larger than the axis.

    >>> irax.lax.top_k(irax.numpy.array([1, 5, 3]), 2)
    (Array([5, 3], dtype=int32), Array([1, 2], dtype=int32))
    """
    what = "lax.top_k"
    x = array_of(what, operand)
    axis = canonical_axis(what, axis, x.ndim)
    k = operator.index(k)
    if not 0 <= k <= x.shape[axis]:
        raise ValueError(f"{what}: k must be 0 to {x.shape[axis]}, the size of the axis, got {k}")
    places = broadcasted_iota(np.int32, x.shape, axis)
    largest, indices = bind(ops.Sort(axis, True, ops.Order(1, "GT")), x, places)
    first = [slice_in_dim(v, 0, k, axis=axis) for v in (largest, indices)]
    return first[0].with_weak_type(x.weak_type), first[1]
