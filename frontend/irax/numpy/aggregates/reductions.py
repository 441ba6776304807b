"""Reductions over axes (sums, products, extrema, all, any) and cumulative ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from irax import dtypes, lax
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays, broadcast_shapes, inexact_dtype
from irax.core.dtypes.promotion import broadcast_to, convert
from irax.lax.arguments import array_of, canonical_axes, canonical_axis, documented
from irax.lax.reductions import fold, neutral
from irax.numpy.creation import asarray
from irax.numpy.elementwise.beyond import as_floats, compared
from irax.numpy.elementwise.logic import (
    equal,
    isfinite,
    isnan,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
)
from irax.numpy.elementwise.logic import where as choose
from irax.numpy.shapes.manipulation import ravel
from irax.numpy.signatures import (
    ArrayApiCumulative,
    Cumulative,
    Extremum,
    Place,
    TotalOfIntegers,
    Truth,
)
from irax.numpy.tables import no_out
from irax.numpy.ufuncs import abs, add, maximum, minimum, multiply, subtract
from irax.typing import ArrayLike, Axis, DTypeLike

_ARGUMENTS = """

Args:
    a: an array.
    axis: the axis or axes to reduce; all by default.
    {dtype}out: not supported, since arrays are immutable.
    keepdims: True to keep the reduced axes, with size 1.
    initial: a number to begin with.
    where: booleans, broadcast to the array: which elements take part{needs}.{promote}

Returns:
    An array without the reduced axes.

Raises:
    TypeError: not an array or a number.
    ValueError: there is no such axis{empty}; `where` is not of booleans, or `initial` is no scalar.
    NotImplementedError: `out` is given."""
_DTYPE = """dtype: the dtype of the computation and of the result. The default is that of the array,
        where booleans and small integers become as wide as the default integer.
    """
_PROMOTE = "\n    promote_integers: True to make small integers as wide as the default one."
_TRUTH = """

Args:
    a: an array.
    axis: the axis or axes to reduce; all by default.
    out: not supported, since arrays are immutable.
    keepdims: True to keep the reduced axes, with size 1.
    where: booleans, broadcast to the array: which elements take part.

Returns:
    An array of booleans without the reduced axes.

Raises:
    TypeError: not an array or a number.
    ValueError: there is no such axis, or `where` is not of booleans.
    NotImplementedError: `out` is given."""
_PLACE = """ The default is all elements, as one dimension.

Of equal elements it is the first; if there is a nan, the first nan.

Args:
    a: an array.
    axis: the axis along which to search; None for all elements.
    out: not supported, since arrays are immutable.
    keepdims: True to keep the axis, with size 1.

Returns:
    Indices, as an array without the axis.

Raises:
    ValueError: there are no elements, or there is no such axis.
    NotImplementedError: `out` is given."""
_CUMULATIVE = """ The default is all elements, as one dimension.

Args:
    a: an array. Booleans become integers.
    axis: the axis along which elements are combined; None for all elements.
    dtype: the dtype of the result.
    out: not supported, since arrays are immutable.

Returns:
    An array of the shape of `a`, or of one dimension without `axis`.

Raises:
    TypeError: not an array or a number.
    ValueError: there is no such axis.
    NotImplementedError: `out` is given."""
_ARRAY_API = """

Args:
    x: an array.
    axis: the axis along which elements are combined. It may be left out for one dimension.
    dtype: the dtype of the result. The default is that of the array, where small integers become as
        wide as the default one.
    include_initial: True to begin the result with the value for no elements.

Returns:
    An array of the shape of `x`, one longer along the axis with `include_initial`.

Raises:
    ValueError: a scalar, or no axis for more than one dimension."""


def spread(x: Array, axes: tuple[int, ...], keepdims: bool, folded: Array) -> Array:
    """Return the result of a reduction of `x`, with `axes` kept at size 1 if asked for."""
    return lax.expand_dims(folded, axes) if keepdims and axes else folded


def mask_of(name: str, where: ArrayLike) -> Array:
    """Return a `where` argument as booleans; raise ValueError if it has another dtype."""
    (mask,) = as_arrays([where], f"{name}: where")
    if mask.dtype != np.bool:
        raise ValueError(f"{name}: where must be booleans, got {mask.dtype}; compare it with 0")
    return mask


def masked(name: str, x: Array, where: ArrayLike | None, value: ArrayLike) -> Array:
    """Return `x` with a number where a mask, broadcast to its shape, does not hold."""
    if where is None:
        return x
    mask = mask_of(name, where)
    if broadcast_shapes(mask.shape, x.shape) != x.shape:
        raise ValueError(
            f"{name}: where of shape {mask.shape} does not broadcast to the array's shape {x.shape}"
        )
    return choose(broadcast_to(mask, x.shape), x, value)


def _begun(name: str, op: Callable[..., Array], folded: Array, initial: ArrayLike | None) -> Array:
    """The operand, and the initial value in its dtype.

    Raises:
        OverflowError: a Python integer that the dtype does not hold.
    """
    if initial is None:
        return folded
    if type(initial) is int and dtypes.issubdtype(folded.dtype, np.integer):
        return op(initial, folded)
    (start,) = as_arrays([initial], f"{name}: initial")
    if start.ndim:
        raise ValueError(f"{name}: initial must be a scalar, got shape {start.shape}")
    return op(convert(start, folded.dtype), folded)


def _sum_dtype(name: str, x: Array, dtype: DTypeLike | None, promote: bool) -> np.dtype[Any]:
    if dtype is not None:
        return dtypes.requested_dtype(dtype, name)
    if not promote and x.dtype != np.bool:
        return x.dtype
    if x.dtype == np.bool or dtypes.issubdtype(x.dtype, np.signedinteger):
        return _wider(x.dtype, dtypes.default_int())
    if dtypes.issubdtype(x.dtype, np.unsignedinteger):
        return _wider(x.dtype, dtypes.default_uint())
    return x.dtype


def _wider(dtype: np.dtype[Any], other: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtype.itemsize > other.itemsize else other


def working_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype that sums are computed in: float32 for narrower floats."""
    narrow = dtypes.issubdtype(dtype, np.floating) and dtype.itemsize < 4
    return np.dtype(np.float32) if narrow else dtype


def _total(name: str, combiner: str, op: Callable[..., Array], doc: str) -> TotalOfIntegers:
    def function(
        a: ArrayLike,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: None = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
        promote_integers: bool = True,
    ) -> Array:
        no_out(name, out)
        (x,) = as_arrays([a], name)
        axes = canonical_axes(name, axis, x.ndim)
        result_dtype = _sum_dtype(name, x, dtype, promote_integers)
        x = convert(x, working_dtype(result_dtype))
        x = masked(name, x, where, neutral(combiner, x.dtype))
        result = spread(x, axes, keepdims, fold(x, combiner, axes))
        return convert(_begun(name, op, result, initial), result_dtype)

    arguments = _ARGUMENTS.format(dtype=_DTYPE, needs="", empty="", promote=_PROMOTE)
    return documented(function, name, doc + arguments, "irax.numpy")


sum: TotalOfIntegers = _total("sum", "add", add, "The sum of the elements over axes.")
prod: TotalOfIntegers = _total(
    "prod", "multiply", multiply, "The product of the elements over axes."
)


def _extremum(name: str, combiner: str, op: Callable[..., Array], doc: str) -> Extremum:
    def function(
        a: ArrayLike,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
    ) -> Array:
        no_out(name, out)
        (x,) = as_arrays([a], name)
        axes = canonical_axes(name, axis, x.ndim)
        if initial is None and not math.prod(x.shape[d] for d in axes):
            raise ValueError(
                f"{name}: axes {axes} of shape {x.shape} hold no elements, and {name} has no "
                "identity; give initial=..."
            )
        if initial is None and where is not None:
            raise ValueError(
                f"{name}: with where=... give initial=..., too: {name} has no identity"
            )
        weak = x.weak_type
        x = masked(name, convert(x, x.dtype), where, neutral(combiner, x.dtype))
        result = spread(x, axes, keepdims, fold(x, combiner, axes))
        if weak:
            result = result.with_weak_type(False)
        return _begun(name, op, result, initial)

    arguments = _ARGUMENTS.format(
        dtype="",
        needs="; it needs `initial`",
        empty=", or no elements to fold",
        promote="",
    )
    return documented(function, name, doc + arguments, "irax.numpy")


max: Extremum = _extremum(
    "max", "maximum", maximum, "The largest element over axes; nan if any is."
)
amax: Extremum = max
min: Extremum = _extremum(
    "min", "minimum", minimum, "The smallest element over axes; nan if any is."
)
amin: Extremum = min


def _truth(name: str, combiner: str, doc: str) -> Truth:
    def function(
        a: ArrayLike,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        *,
        where: ArrayLike | None = None,
    ) -> Array:
        no_out(name, out)
        (x,) = as_arrays([a], name)
        axes = canonical_axes(name, axis, x.ndim)
        truth = x if x.dtype == np.bool else logical_not(equal(x, 0))
        truth = masked(name, truth, where, combiner == "and")
        return spread(x, axes, keepdims, fold(truth, combiner, axes))

    return documented(function, name, doc + _TRUTH, "irax.numpy")


all: Truth = _truth("all", "and", "True if no element over some axes is 0; True for no elements.")
any: Truth = _truth(
    "any", "or", "True if some element over some axes is not 0; False for no elements."
)


def count_nonzero(a: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """Count the elements that are not 0, over axes.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        keepdims: True if the result keeps those axes, with size 1.

    Returns:
        Integers.

    Raises:
        TypeError: `a` is not an array, or `axis` is not an int.
        ValueError: there is no such axis.

    >>> jnp.count_nonzero(jnp.array([[0, 5], [7, 8]]), axis=0)
    Array([1, 2], dtype=int32)
    """
    return sum(logical_not(equal(a, 0)), axis, dtypes.default_int(), keepdims=keepdims)


def ptp(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False) -> Array:
    """Return the largest element minus the smallest, over axes.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        out: not supported.
        keepdims: True if the result keeps those axes, with size 1.

    Raises:
        TypeError: `a` is not an array, it holds booleans, or `axis` is not an int.
        ValueError: there are no elements, or there is no such axis.
        NotImplementedError: `out` is given.

    >>> jnp.ptp(jnp.array([3, 1, 7]))
    Array(6, dtype=int32)
    """
    no_out("ptp", out)
    return subtract(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))


# ---- indices of extrema --------------------------------------------------------------------------


def _place(name: str, find: Callable[..., Array], doc: str) -> Place:
    def function(
        a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None
    ) -> Array:
        no_out(name, out)
        (x,) = as_arrays([a], name)
        rank = x.ndim
        x, along = (ravel(x), 0) if axis is None else (x, canonical_axis(name, axis, rank))
        if not x.shape[along]:
            raise ValueError(f"{name}: axis {along} of shape {x.shape} is empty")
        place = find(x, along, dtypes.default_int())
        if not keepdims:
            return place
        return lax.reshape(place, (1,) * rank) if axis is None else lax.expand_dims(place, (along,))

    return documented(function, name, doc + _PLACE, "irax.numpy")


argmax: Place = _place("argmax", lax.argmax, "The place of the largest element along an axis.")
argmin: Place = _place("argmin", lax.argmin, "The place of the smallest element along an axis.")


# ---- cumulative reductions -----------------------------------------------------------------------


def _cumulative(name: str, step: Callable[..., Array], doc: str) -> Cumulative:
    def function(
        a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None
    ) -> Array:
        no_out(name, out)
        (x,) = as_arrays([a], name)
        x, along = (ravel(x), 0) if axis is None else (x, canonical_axis(name, axis, x.ndim))
        if dtype is None:
            result_dtype = dtypes.default_int() if x.dtype == np.bool else x.dtype
        else:
            result_dtype = dtypes.requested_dtype(dtype, name)
        x = convert(x, working_dtype(result_dtype))
        if result_dtype == np.bool:
            x = convert(x, dtypes.default_int())
        return convert(step(x, along), result_dtype)

    return documented(function, name, doc + _CUMULATIVE, "irax.numpy")


cumsum: Cumulative = _cumulative(
    "cumsum", lax.cumsum, "The sum of the elements so far along an axis."
)
cumprod: Cumulative = _cumulative(
    "cumprod", lax.cumprod, "The product of the elements so far along an axis."
)


def _array_api_cumulative(
    name: str, step: Callable[..., Array], neutral: int, doc: str
) -> ArrayApiCumulative:
    def function(
        x: ArrayLike,
        /,
        *,
        axis: int | None = None,
        dtype: DTypeLike | None = None,
        include_initial: bool = False,
    ) -> Array:
        (array,) = as_arrays([x], name)
        if not array.ndim or (axis is None and array.ndim > 1):
            raise ValueError(
                f"{name}: expected an array of one dimension, or an axis, got shape {array.shape}"
            )
        along = 0 if axis is None else canonical_axis(name, axis, array.ndim)
        result = step(array, along, _sum_dtype(name, array, dtype, promote=True))
        if include_initial:
            shape = (*array.shape[:along], 1, *array.shape[along + 1 :])
            result = lax.concatenate([lax.full(shape, neutral, result.dtype), result], along)
        return result

    return documented(function, name, doc + _ARRAY_API, "irax.numpy")


cumulative_sum: ArrayApiCumulative = _array_api_cumulative(
    "cumulative_sum", cumsum, 0, "The sum of the elements so far along an axis."
)
cumulative_prod: ArrayApiCumulative = _array_api_cumulative(
    "cumulative_prod", cumprod, 1, "The product of the elements so far along an axis."
)


# ---- whole arrays compared -----------------------------------------------------------------------


def isclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1e-05,
    atol: ArrayLike = 1e-08,
    equal_nan: bool = False,
) -> Array:
    """Return True where |a - b| <= atol + rtol |b|; an infinity is close only to itself.

    Args:
        a: an array, or a number.
        b: an array, or a number, which broadcasts with `a`.
        rtol: the difference allowed, relative to |b|.
        atol: the difference allowed besides.
        equal_nan: True if two nans are close.

    Raises:
        TypeError: an argument is not an array or a number, or the shapes do not fit together.

    >>> jnp.isclose(jnp.array([1.0, 2.0]), jnp.array([1.0, 2.1]))
    Array([ True, False], dtype=bool)
    """
    x, y = as_arrays(as_floats(a, b), "isclose")
    if isinstance(x.dtype, dtypes.KeyType):
        return equal(x, y)
    near = less_equal(abs(subtract(*_numbers(x, y))), add(atol, multiply(rtol, abs(y))))
    near = logical_or(equal(x, y), logical_and(near, logical_and(isfinite(x), isfinite(y))))
    return logical_or(near, logical_and(isnan(x), isnan(y))) if equal_nan else near


def _numbers(x: Array, y: Array) -> tuple[Array, Array]:
    """Return booleans and unsigned integers as floats, so that their difference has a sign."""
    if dtypes.issubdtype(dtypes.result_type(x, y), np.inexact):
        return x, y
    return convert(x, inexact_dtype(x.dtype)), convert(y, inexact_dtype(y.dtype))


def allclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1e-05,
    atol: ArrayLike = 1e-08,
    equal_nan: bool = False,
) -> Array:
    """Return True if all elements of two arrays are close: see `isclose`.

    Args:
        a: an array, or a number.
        b: an array, or a number, which broadcasts with `a`.
        rtol: the difference allowed, relative to |b|.
        atol: the difference allowed besides.
        equal_nan: True if two nans are close.

    Raises:
        TypeError: an argument is not an array or a number, or arrays of several elements do not
            broadcast (see `isclose`).

    >>> jnp.allclose(jnp.array([1.0, 2.0]), jnp.array([1.0, 2.000001]))
    Array(True, dtype=bool)
    """
    return all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> Array:
    """Return True if two arrays have one shape and equal elements.

    Args:
        a1: an array.
        a2: an array; its dtype may be another one.
        equal_nan: True if a nan is equal to a nan.

    Returns:
        A boolean of shape ().

    Raises:
        TypeError: `a1` or `a2` is not an array or a number.

    >>> jnp.array_equal(jnp.arange(3), jnp.array([0, 1, 2]))
    Array(True, dtype=bool)
    """
    if compared("equal", a1, a2) is not None:  # an int that the dtype does not hold
        return as_arrays([False], "array_equal")[0]
    x, y = _with_lists(a1, a2, "array_equal")
    if x.shape != y.shape:
        return as_arrays([False], "array_equal")[0]
    same = equal(x, y)
    return all(logical_or(same, logical_and(isnan(x), isnan(y))) if equal_nan else same)


def array_equiv(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Return True if two arrays broadcast to one shape and have equal elements there.

    Args:
        a1: an array.
        a2: an array; its dtype may be another one.

    Returns:
        A boolean of shape (): False if the shapes do not fit together.

    Raises:
        TypeError: `a1` or `a2` is not an array or a number.

    >>> jnp.array_equiv(jnp.ones((2, 3)), 1)
    Array(True, dtype=bool)
    """
    known = compared("equal", a1, a2)
    if known is not None:
        return all(known)
    x, y = _with_lists(a1, a2, "array_equiv")
    try:
        shape = broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return as_arrays([False], "array_equiv")[0]
    dtype, _ = dtypes.join(x, y)
    return all(equal(*(broadcast_to(convert(v, dtype), shape) for v in (x, y))))


def _with_lists(a1: Any, a2: Any, what: str) -> list[Array]:
    """Return the operands, which may be lists, as arrays."""
    return [asarray(x) if isinstance(x, list | tuple) else array_of(what, x) for x in (a1, a2)]
