"""Products of matrices whose rows come in groups, and of matrices with scales."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.promotion import apply, broadcast_to, convert, select
from irax.core.places import widened
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.lax.arguments import array_of
from irax.lax.contraction import DotDimensionNumbers, PrecisionLike, dot_general
from irax.lax.cumulative import cumsum
from irax.lax.structure import broadcast_in_dim, broadcasted_iota, reshape, transpose
from irax.typing import ArrayLike, DTypeLike
from irax_compiler.ops import bitwise, comparison, elementwise


@dataclass(frozen=True)
class RaggedDotDimensionNumbers:
    """The dimension numbers of a ragged product."""

    dot_dimension_numbers: DotDimensionNumbers
    """((lhs contracting, rhs contracting), (lhs batching, rhs batching))."""
    lhs_ragged_dimensions: Sequence[int]
    """The one dimension of lhs along which groups lie, one after the other."""
    rhs_group_dimensions: Sequence[int]
    """The dimension of rhs that has a matrix for each group; none where a contracting or batching
    dimension is ragged."""


@takes_out_sharding("lax.ragged_dot", sums=True)
def ragged_dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    group_sizes: ArrayLike,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    group_offset: None = None,
    out_sharding: Any = None,
) -> Array:
    """Multiply each row of a matrix by the matrix of its group.

    It costs as much as if each row were in all groups.

    Args:
        lhs: [m, k].
        rhs: [groups, k, n].
        group_sizes: [groups], integers: how many rows are in each group, which come one after the
            other. What is left of the rows has the result zero.
        precision: how exactly the hardware is to multiply.
        preferred_element_type: the dtype of the result.
        group_offset: not supported.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Returns:
        [m, n].

    Raises:
        TypeError: shapes that do not fit, or group sizes that are not integers.
        NotImplementedError: a group offset.

    >>> x, y = (
    ...     irax.numpy.ones((3, 2)),
    ...     irax.numpy.arange(2.0).reshape(2, 1, 1) * irax.numpy.ones((2, 1)),
    ... )
    >>> irax.lax.ragged_dot(x, y, irax.numpy.array([1, 2])).ravel()
    Array([0., 2., 2.], dtype=float32)
    """
    numbers = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    return ragged_dot_general(
        lhs, rhs, group_sizes, numbers, precision, preferred_element_type, group_offset
    )


@takes_out_sharding("lax.ragged_dot_general", sums=True)
def ragged_dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    group_sizes: ArrayLike,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    group_offset: None = None,
    out_sharding: Any = None,
) -> Array:
    """`dot_general` with groups along one dimension of the first operand.

    If that dimension is neither contracted nor a batch, each group has a part of `rhs` of its own;
    if it is contracted, the result has a first dimension for the groups; if it is a batch, groups
    make no difference. Arguments and errors are those of `ragged_dot`.

    Args:
        lhs: an array, divided into groups along one dimension.
        rhs: an array.
        group_sizes: the sizes of the groups, integers [g]; or [..., g], with the batch dimensions,
            and then those dimensions of `lhs` of the kind of the divided one that come before it.
        ragged_dot_dimension_numbers: a `RaggedDotDimensionNumbers`.
        precision: how exactly the hardware is to multiply.
        preferred_element_type: the dtype of the sums, and so of the result.
        group_offset: not supported.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: shapes that do not fit, or group sizes that are not integers.
        NotImplementedError: a group offset.
    """
    what = "lax.ragged_dot_general"
    if group_offset is not None:
        raise NotImplementedError(f"{what}: group_offset is not supported")
    x, y = as_arrays([lhs, rhs], what)
    sizes = array_of(what, group_sizes)
    if not dtypes.issubdtype(sizes.dtype, np.integer) or not sizes.ndim:
        raise TypeError(f"{what}: group_sizes must be integers [g] or [..., g], got {sizes.aval}")
    numbers = ragged_dot_dimension_numbers
    (contract, y_contract), (batch, y_batch) = numbers.dot_dimension_numbers
    if len(numbers.lhs_ragged_dimensions) != 1:
        raise TypeError(
            f"{what}: expected one ragged dimension, got {numbers.lhs_ragged_dimensions}"
        )
    (ragged,) = numbers.lhs_ragged_dimensions
    groups = tuple(numbers.rhs_group_dimensions)
    if ragged in batch:
        dims = numbers.dot_dimension_numbers
        return dot_general(x, y, dims, precision, preferred_element_type)
    if len(groups) != (ragged not in contract):
        raise TypeError(
            f"{what}: rhs_group_dimensions must name one dimension, or none where the ragged "
            f"dimension is contracted, got {groups}"
        )
    if groups and y.shape[groups[0]] != sizes.shape[-1]:
        raise TypeError(
            f"{what}: rhs has {y.shape[groups[0]]} groups, group_sizes has {sizes.shape[-1]}"
        )
    alike = contract if ragged in contract else _others(x.ndim, contract, batch)
    outer = (*batch, *itertools.takewhile(lambda d: d != ragged, alike)) if sizes.ndim > 1 else ()
    expected = tuple(x.shape[d] for d in outer)
    if sizes.shape[:-1] != expected:
        raise TypeError(
            f"{what}: group_sizes has shape {sizes.shape}; expected ({sizes.shape[-1]},), or "
            f"{(*expected, sizes.shape[-1])}"
        )
    apart = _by_group(what, x, sizes, ragged, outer)
    moved, moved_batch = ([d + 1 for d in dims] for dims in (contract, batch))
    if groups:
        pairs = ([0, *moved], [groups[0], *y_contract])
        return dot_general(
            apart, y, (pairs, (moved_batch, y_batch)), precision, preferred_element_type
        )
    found = dot_general(
        apart,
        y,
        ((moved, y_contract), (moved_batch, y_batch)),
        precision,
        preferred_element_type,
    )
    place = len(moved_batch)
    order = [place, *(d for d in range(found.ndim) if d != place)]
    return transpose(found, order)


def _others(rank: int, *taken: Sequence[int]) -> list[int]:
    """Return the dimensions that are in none of these lists."""
    return [d for d in range(rank) if not any(d in dims for dims in taken)]


def _by_group(
    what: str, x: Array, sizes: Array, dimension: int, outer: Sequence[int] = ()
) -> Array:
    """Return for each group the array with zeros in the place of the others: [groups, *x.shape].
    There are sizes for each place along the `outer` dimensions.
    """
    count, n = sizes.shape[-1], x.shape[dimension]
    sizes = widened(sizes, n)
    ends = cumsum(sizes, axis=sizes.ndim - 1)
    starts = apply(elementwise.subtract, ends, sizes, what=what)
    within = (*sizes.shape, n)
    places = broadcasted_iota(sizes.dtype, within, sizes.ndim)
    low, high = (broadcast_in_dim(v, within, tuple(range(sizes.ndim))) for v in (starts, ends))
    inside = apply(
        bitwise.and_,
        apply(comparison.less_equal, low, places, what=what),
        apply(comparison.less, places, high, what=what),
        what=what,
    )
    extents = (count, *x.shape)
    mask = broadcast_in_dim(inside, extents, (*(d + 1 for d in outer), 0, dimension + 1))
    return select(mask, broadcast_to(x, extents), 0, what)


def scaled_dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    *,
    lhs_scale: ArrayLike | None = None,
    rhs_scale: ArrayLike | None = None,
    dimension_numbers: DotDimensionNumbers | None = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """`dot_general` of operands that are multiplied by scales first.

    Args:
        lhs: an array; of rank 2 or 3 if no `dimension_numbers` are given.
        rhs: an array.
        lhs_scale: of the shape of `lhs`, but for contracting dimensions, of which it has a part:
            each of its elements is for as many neighbours.
        rhs_scale: likewise for `rhs`.
        dimension_numbers: as for `dot_general`; by default the product of two matrices, or of
            batches of them.
        preferred_element_type: the dtype that it is computed in, and of the result; by default
            bfloat16.

    Raises:
        TypeError: shapes that do not fit.

    >>> x = irax.numpy.ones((1, 4))
    >>> irax.lax.scaled_dot(x, x.T, lhs_scale=irax.numpy.array([[1.0, 2.0]])).astype("float32")
    Array([[6.]], dtype=float32)
    """
    what = "lax.scaled_dot"
    x, y = as_arrays([lhs, rhs], what)
    if dimension_numbers is None:
        if x.ndim != y.ndim or x.ndim not in (2, 3):
            raise TypeError(
                f"{what}: without dimension_numbers operands must be matrices, or batches of them, "
                f"got shapes {x.shape} and {y.shape}"
            )
        batch = tuple(range(x.ndim - 2))
        dimension_numbers = (((x.ndim - 1,), (x.ndim - 2,)), (batch, batch))
    wide = dtypes.canonicalize_dtype(preferred_element_type or "bfloat16")
    x, y = (
        _scaled(what, name, v, scale, wide)
        for name, v, scale in (("lhs", x, lhs_scale), ("rhs", y, rhs_scale))
    )
    return dot_general(x, y, dimension_numbers, preferred_element_type=wide)


def _scaled(what: str, name: str, x: Array, scale: Any, dtype: np.dtype[Any]) -> Array:
    x = convert(x, dtype)
    if scale is None:
        return x
    factors = convert(array_of(what, scale), dtype)
    fits = factors.ndim == x.ndim and all(
        m and n % m == 0 for n, m in zip(x.shape, factors.shape, strict=True)
    )
    if not fits:
        raise TypeError(
            f"{what}: {name}_scale has shape {factors.shape}, which is no part of {x.shape}: its "
            "sizes must divide them"
        )
    spread = [n for m, whole in zip(factors.shape, x.shape, strict=True) for n in (m, whole // m)]
    wide = broadcast_in_dim(factors, spread, range(0, 2 * x.ndim, 2))
    return apply(elementwise.multiply, x, reshape(wide, x.shape), what=what)
