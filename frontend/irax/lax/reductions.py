"""Reductions of dimensions, and the indices of extrema."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array, ConcreteArray
from irax.core.dispatch import bind, shortcut
from irax.core.dtypes.operands import Kinds, check_dtype, kinds_text
from irax.core.dtypes.promotion import apply
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.lax.arguments import array_of, canonical_axes, canonical_axis, documented
from irax.lax.elementwise import ANY, BITS, NUMBER, ORDERED
from irax.lax.signatures import Reduction
from irax.lax.structure import broadcasted_iota, expand_dims, full
from irax.typing import ArrayLike, DTypeLike
from irax_compiler.ops import bitwise, comparison, numpy_call
from irax_compiler.ops.reductions import reduce


def fold(x: Array, combiner: str, axes: tuple[int, ...]) -> Array:
    """Reduce `axes` by a combiner of `irax_compiler.ops.reduction`, from its identity."""
    if not axes:
        return x
    op = reduce.Reduce(combiner, axes)
    return bind(op, x, neutral(combiner, x.dtype), weak_type=x.weak_type)


@functools.cache
def neutral(combiner: str, dtype: np.dtype[Any]) -> Array:
    """Return the identity of a combiner, as a scalar of a dtype, which may be one of 64 bits where
    these are not enabled.
    """
    return ConcreteArray(np.asarray(reduce.identity(combiner, dtype)).astype(dtype))


def _reduction(name: str, combiner: str, accepts: Kinds, doc: str) -> Reduction:
    what = f"lax.{name}"

    @takes_out_sharding(what, sums=combiner == "add")
    def function(operand: ArrayLike, axes: Sequence[int], *, out_sharding: Any = None) -> Array:
        x = array_of(what, operand)
        check_dtype(what, x.dtype, accepts)
        return fold(x, combiner, canonical_axes(what, tuple(axes), x.ndim))

    doc += f"""

Args:
    operand: an array of {kinds_text(accepts)}.
    axes: the axes to reduce.
    out_sharding: the sharding of the result.

Returns:
    An array without these axes.

Raises:
    TypeError: the array has another dtype.
    ValueError: an axis that the array does not have, or one that is named twice."""
    return documented(function, name, doc)


reduce_sum: Reduction = _reduction("reduce_sum", "add", NUMBER, "The sum over some axes.")
reduce_prod: Reduction = _reduction(
    "reduce_prod", "multiply", NUMBER, "The product over some axes."
)
reduce_max: Reduction = _reduction(
    "reduce_max", "maximum", ANY, "The largest element over some axes."
)
reduce_min: Reduction = _reduction(
    "reduce_min", "minimum", ANY, "The smallest element over some axes."
)
reduce_and: Reduction = _reduction(
    "reduce_and", "and", BITS, "The bits set in all elements over some axes."
)
reduce_or: Reduction = _reduction(
    "reduce_or", "or", BITS, "The bits set in any element over some axes."
)
reduce_xor: Reduction = _reduction(
    "reduce_xor", "xor", BITS, "The bits set in an odd number of elements."
)


# ---- indices of extrema -----------------------------------------------------------------------


def argmax(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array:
    """Return the index of the first largest element along an axis; of the first nan if there is
    one.

    Args:
        operand: an array of real numbers.
        axis: the axis, an int.
        index_dtype: the dtype of the indices.

    Raises:
        TypeError: `index_dtype` is not an integer dtype.
        ValueError: the axis is empty, or there is no such axis.

    >>> irax.lax.argmax(irax.numpy.array([1, 3, 3]), 0, "int32")
    Array(1, dtype=int32)
    """
    return _first_of("lax.argmax", "maximum", operand, axis, index_dtype)


def argmin(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array:
    """Return the index of the first smallest element along an axis; of the first nan, if any.

    Args:
        operand: an array of real numbers.
        axis: the axis, an int.
        index_dtype: the dtype of the indices.

    Raises:
        TypeError: `index_dtype` is not an integer dtype.
        ValueError: the axis is empty, or there is no such axis.

    >>> irax.lax.argmin(irax.numpy.array([3, 1, 1]), 0, "int32")
    Array(1, dtype=int32)
    """
    return _first_of("lax.argmin", "minimum", operand, axis, index_dtype)


def _first_of(
    what: str, combiner: str, operand: ArrayLike, axis: int, index_dtype: DTypeLike
) -> Array:
    x = array_of(what, operand)
    check_dtype(what, x.dtype, ORDERED)
    axis = canonical_axis(what, axis, x.ndim)
    dtype = dtypes.requested_dtype(index_dtype, what)
    if not dtypes.issubdtype(dtype, np.integer):
        raise TypeError(f"{what}: index_dtype must be an integer dtype, got {dtype}")
    if not x.shape[axis]:
        raise ValueError(f"{what}: axis {axis} of shape {x.shape} is empty, it has no extremum")

    def formula(x: Array) -> Array:
        return _place_of(what, combiner, x, axis, dtype)

    name = "argmax" if combiner == "maximum" else "argmin"
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    return shortcut(numpy_call.NumpyCall(name, shape, dtype, axis), x, formula=formula)


def _place_of(what: str, combiner: str, x: Array, axis: int, dtype: np.dtype[Any]) -> Array:
    extremum = expand_dims(fold(x, combiner, (axis,)), (axis,))
    attained = apply(comparison.equal, x, extremum, what=what)
    if dtypes.issubdtype(x.dtype, np.inexact):
        is_nan = apply(comparison.not_equal, x, x, what=what)
        attained = apply(bitwise.or_, attained, is_nan, what=what)
    places = broadcasted_iota(dtype, x.shape, axis)
    last = full(x.shape, x.shape[axis] - 1, dtype)  # not beyond: so the place has tight bounds
    return fold(bind(comparison.select, attained, places, last), "minimum", (axis,))
