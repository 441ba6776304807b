"""Sorting, and the largest and smallest elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irax.core.array import Array
from irax.core.dispatch import bind
from irax.core.dtypes.operands import as_arrays, check_dtype
from irax.core.shardings.explicit_axes import check_alike
from irax.lax.arguments import array_of, canonical_axis, canonical_int
from irax.lax.elementwise import FLOAT, ORDERED
from irax.lax.slicing import slice_in_dim
from irax.lax.structure import broadcasted_iota, transpose
from irax.typing import ArrayLike
from irax_compiler.ops.sorting import sort as ops
from irax_compiler.ops.sorting.top_k import TopK
from irax_compiler.sizes import is_symbolic


def sort(
    operand: ArrayLike | Sequence[ArrayLike],
    dimension: int = -1,
    is_stable: bool = True,
    num_keys: int = 1,
) -> Any:
    """Sort the elements along a dimension in ascending order; nan comes last.

    Args:
        operand: an array; or a sequence of arrays of one shape, which are reordered together.
        dimension: along which to sort.
        is_stable: True if equal elements keep their order.
        num_keys: the number of arrays, from the first on, that are compared.

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
    operands = [operand] if single else list(operand)
    arrays = as_arrays(operands, what)
    check_alike(what, operands)
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
    """Sort the keys in ascending order, and the values along with them.

    Args:
        keys: an array of integers or floats.
        values: an array of the same shape.
        dimension: the dimension along which to sort.
        is_stable: True to keep the order of equal keys.

    Raises:
        TypeError: `keys` or `values` is not an array, or their shapes differ.
        ValueError: there is no such dimension.

    >>> irax.lax.sort_key_val(irax.numpy.array([3, 1]), irax.numpy.array([7, 8]))
    (Array([1, 3], dtype=int32), Array([8, 7], dtype=int32))
    """
    return sort((keys, values), dimension, is_stable)


def top_k(operand: ArrayLike, k: int, *, axis: int = -1, is_stable: bool = True) -> list[Array]:
    """Return the k largest elements along an axis, in descending order, and their indices.

    Of equal elements the one that comes first goes first. Floats are in IEEE 754's total order, as
    in JAX: nan is largest, 0 larger than -0, and a nan with its sign set, such as 0 / 0 on many
    machines, smallest.

    Args:
        operand: an array of integers or floats.
        k: the number of elements.
        axis: the axis along which to select.
        is_stable: of no effect: equal elements keep their order in any case.

    Raises:
        TypeError: complex numbers, or k is not an int.
        ValueError: k is negative or larger than the axis, or the axis has more elements than
            indices of int32 can tell apart.

    >>> irax.lax.top_k(irax.numpy.array([1, 5, 3]), 2)
    [Array([5, 3], dtype=int32), Array([1, 2], dtype=int32)]
    """
    what = "lax.top_k"
    x = array_of(what, operand)
    check_dtype(what, x.dtype, ORDERED)
    axis = canonical_axis(what, axis, x.ndim)
    k = _count(what, k, x.shape[axis])
    size = x.shape[axis]
    if not is_symbolic(size) and size > np.iinfo(np.int32).max:
        raise ValueError(
            f"{what}: axis {axis} of shape {x.shape} has more elements than its indices, of int32, "
            "can tell apart; select from parts of the array, or sort it with irax.numpy.argsort"
        )
    op = TopK(k)
    last = x.ndim - 1
    if axis == last:
        values, indices = bind(op, x)
    else:
        order = [*(d for d in range(x.ndim) if d != axis), axis]
        back = np.argsort(order).tolist()
        values, indices = (transpose(y, back) for y in bind(op, transpose(x, order)))
    return [values.with_weak_type(x.weak_type), indices]


def _count(what: str, k: Any, size: int) -> int:
    count = canonical_int(what, "k", k)
    if not 0 <= count <= size:
        raise ValueError(f"{what}: k must be 0 to {size}, the size of the axis, got {k}")
    return count


def approx_max_k(
    operand: ArrayLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> list[Array]:
    """Return the k largest elements along a dimension, in descending order, and their indices.

    They are exact: arguments that allow for errors have no effect.

    Args:
        operand: an array of floats.
        k: the number of elements.
        reduction_dimension: the dimension.
        recall_target: which part of them, above 0 and at most 1, is to be found; of no effect.
        reduction_input_size_override: the size of the dimension, where the operand is a part of
            what is searched; of no effect.
        aggregate_to_topk: without it all elements are given, in order.

    Raises:
        TypeError: an operand that is not of floats.
        ValueError: k is negative or larger than the dimension, or a recall beyond its range.

    >>> irax.lax.approx_max_k(irax.numpy.array([1.0, 5.0, 3.0]), 2)
    [Array([5., 3.], dtype=float32), Array([1, 2], dtype=int32)]
    """
    what = "lax.approx_max_k"
    x, k, axis = _searched(what, operand, k, reduction_dimension, recall_target)
    return top_k(x, k if aggregate_to_topk else x.shape[axis], axis=axis)


def approx_min_k(
    operand: ArrayLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> list[Array]:
    """Return the k smallest elements along a dimension, in ascending order, and their indices.

    Arguments and errors are those of `approx_max_k`; nan counts as largest.

    Args:
        operand: an array of floats.
        k: the number of elements.
        reduction_dimension: the dimension.
        recall_target: the share of the true k smallest elements that must be found; all of them
            are.
        reduction_input_size_override: of no effect.
        aggregate_to_topk: of no effect.

    Raises:
        TypeError: `operand` has no floats.
        ValueError: k is negative or larger than the dimension.

    >>> irax.lax.approx_min_k(irax.numpy.array([1.0, 5.0, 3.0]), 2)
    [Array([1., 3.], dtype=float32), Array([0, 2], dtype=int32)]
    """
    what = "lax.approx_min_k"
    x, k, axis = _searched(what, operand, k, reduction_dimension, recall_target)
    places = broadcasted_iota(np.int32, x.shape, axis)
    ordered = sort((x, places), axis)
    count = k if aggregate_to_topk else x.shape[axis]
    return [slice_in_dim(y, 0, count, axis=axis) for y in ordered]


def _searched(
    what: str, operand: ArrayLike, k: Any, dimension: int, recall: float
) -> tuple[Array, int, int]:
    x = array_of(what, operand)
    check_dtype(what, x.dtype, FLOAT)
    if not 0 < recall <= 1:
        raise ValueError(f"{what}: recall_target must be above 0 and at most 1, got {recall}")
    axis = canonical_axis(what, dimension, x.ndim)
    return x, _count(what, k, x.shape[axis]), axis
