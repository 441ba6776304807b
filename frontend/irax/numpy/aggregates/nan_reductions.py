"""Reductions that ignore nan."""

from __future__ import annotations

import inspect

import numpy as np

from irax import dtypes, lax
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.promotion import broadcast_to, convert
from irax.lax.arguments import documented
from irax.numpy.aggregates import reductions, statistics
from irax.numpy.elementwise.logic import isnan, logical_and, logical_not
from irax.numpy.elementwise.logic import where as choose
from irax.numpy.signatures import Cumulative, Extremum, Place, Total
from irax.typing import ArrayLike, Axis, DTypeLike


def _cleaned(name: str, a: ArrayLike, neutral: float) -> tuple[Array, Array | None]:
    """Return the array with a number in place of nan, and a mask of nan, or None. Where its dtype
    lacks that number, as floats of 8 bits lack infinities or 0, it is in float32.
    """
    (x,) = as_arrays([a], name)
    if not dtypes.issubdtype(x.dtype, np.inexact):
        return x, None
    missing = isnan(x)
    if x.dtype.itemsize == 1 and np.array(neutral).astype(x.dtype).astype(float) != neutral:
        x = convert(x, np.dtype(np.float32))
    return choose(missing, lax.full_like(x, neutral), x), missing


def _like(a: ArrayLike, cleaned: Array, result: Array) -> Array:
    """Return a reduction of the cleaned array in the dtype of the array."""
    (x,) = as_arrays([a], "nan")
    return result if cleaned.dtype == x.dtype else convert(result, x.dtype)


def _total(name: str, neutral: float) -> Total:
    fold = getattr(reductions, name)

    def function(
        a: ArrayLike,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: None = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
    ) -> Array:
        x, _ = _cleaned(f"nan{name}", a, neutral)
        result = fold(x, axis, dtype, out, keepdims, initial, where)
        return _like(a, x, result) if dtype is None else result

    doc = f"""`{name}` of the elements that are not nan.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        dtype: the dtype that it is computed in, and of the result.
        out: not supported.
        keepdims: True if the result keeps those axes, with size 1.
        initial: a number to begin with.
        where: a mask of the elements that take part.

    Raises:
        TypeError: `a` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, or `where` has no booleans.
        NotImplementedError: `out` is given."""
    return documented(function, f"nan{name}", inspect.cleandoc(doc), "irax.numpy")


nansum: Total = _total("sum", 0)
nanprod: Total = _total("prod", 1)


def _extremum(name: str, neutral: float) -> Extremum:
    fold = getattr(reductions, name)

    def function(
        a: ArrayLike,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
    ) -> Array:
        x, missing = _cleaned(f"nan{name}", a, neutral)
        result = _like(a, x, fold(x, axis, out, keepdims, initial, where))
        if missing is None or initial is not None:
            return result
        return choose(reductions.all(missing, axis, keepdims=keepdims), np.nan, result)

    doc = f"""`{name}` of the elements that are not nan; nan if all are nan.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        out: not supported.
        keepdims: True if the result keeps those axes, with size 1.
        initial: a number to begin with.
        where: a mask of the elements that take part; it needs `initial`.

    Raises:
        TypeError: `a` is not an array, or `axis` is not an int.
        ValueError: there are no elements and no `initial`, or there is no such axis.
        NotImplementedError: `out` is given."""
    return documented(function, f"nan{name}", inspect.cleandoc(doc), "irax.numpy")


nanmax: Extremum = _extremum("max", -np.inf)
nanmin: Extremum = _extremum("min", np.inf)


def _place(name: str, neutral: float) -> Place:
    find = getattr(reductions, name)

    def function(
        a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None
    ) -> Array:
        x, missing = _cleaned(f"nan{name}", a, neutral)
        place = find(x, axis, out, keepdims)
        if missing is None:
            return place
        nothing = reductions.all(missing, axis, keepdims=bool(keepdims))
        return choose(nothing, lax.full_like(place, -1), place)

    doc = f"""`{name}` of the elements that are not nan; -1 if all are nan.

    Args:
        a: an array.
        axis: the axis; None for all elements, as one dimension.
        out: not supported.
        keepdims: True to keep the axis, with size 1.

    Raises:
        TypeError: `a` is not an array of real numbers, or `axis` is not an int.
        ValueError: there are no elements, or there is no such axis.
        NotImplementedError: `out` is given."""
    return documented(function, f"nan{name}", inspect.cleandoc(doc), "irax.numpy")


nanargmax: Place = _place("argmax", -np.inf)
nanargmin: Place = _place("argmin", np.inf)


def _cumulative(name: str, neutral: float) -> Cumulative:
    step = getattr(reductions, name)

    def function(
        a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None
    ) -> Array:
        x, _ = _cleaned(f"nan{name}", a, neutral)
        result = step(x, axis, dtype, out)
        return _like(a, x, result) if dtype is None else result

    doc = f"""`{name}` with each nan replaced by {neutral}.

    Args:
        a: an array.
        axis: the axis; None for all elements, as one dimension.
        dtype: the dtype that it is computed in, and of the result.
        out: not supported.

    Raises:
        TypeError: `a` is not an array, or `axis` is not an int.
        ValueError: there is no such axis.
        NotImplementedError: `out` is given."""
    return documented(function, f"nan{name}", inspect.cleandoc(doc), "irax.numpy")


nancumsum: Cumulative = _cumulative("cumsum", 0)
nancumprod: Cumulative = _cumulative("cumprod", 1)


def _present(name: str, a: ArrayLike, where: ArrayLike | None) -> tuple[Array, Array]:
    """Return the array with 0 in place of nan, and a mask of the elements that take part."""
    x, missing = _cleaned(name, a, 0)
    there = lax.full(x.shape, True, np.bool) if missing is None else logical_not(missing)
    if where is None:
        return x, there
    return x, logical_and(there, broadcast_to(reductions.mask_of(name, where), x.shape))


def nanmean(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    where: ArrayLike | None = None,
) -> Array:
    """Return the mean over axes, ignoring nan; nan if there is no other element.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        dtype: of the result; by default that of the array, or the default float.
        out: not supported.
        keepdims: True if the result keeps those axes, with size 1.
        where: a mask of the elements that take part.

    Raises:
        TypeError: `a` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, or `where` has no booleans.
        NotImplementedError: `out` is given.

    >>> irax.numpy.nanmean(irax.numpy.array([1.0, irax.numpy.nan, 4.0]))
    Array(2.5, dtype=float32)
    """
    x, there = _present("nanmean", a, where)
    return statistics.mean(x, axis, dtype, out, keepdims, where=there)


def nanvar(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int | None = 0,
    keepdims: bool = False,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
) -> Array:
    """Return the variance over axes, ignoring nan; nan where no more than `ddof` elements
    are left.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        dtype: the dtype that it is computed in, and of the result.
        out: not supported.
        ddof: the sum of squares is divided by the number of elements that are not nan, minus this.
        keepdims: True if the result keeps those axes, with size 1.
        where: a mask of the elements that take part.
        mean: the mean, if it is known, with those axes kept.

    Raises:
        TypeError: `a` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, or `where` has no booleans.
        NotImplementedError: `out` is given.

    >>> jnp.nanvar(jnp.array([1.0, jnp.nan, 3.0]))
    Array(1., dtype=float32)
    """
    x, there = _present("nanvar", a, where)
    found = statistics.var(x, axis, dtype, out, ddof, keepdims, where=there, mean=mean)
    return found if dtype is None else found.astype(dtype)


def nanstd(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int | None = 0,
    keepdims: bool = False,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
) -> Array:
    """Return the standard deviation over axes, ignoring nan; nan as for `nanvar`.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        dtype: the dtype that it is computed in, and of the result.
        out: not supported.
        ddof: the sum of squares is divided by the number of elements that are not nan, minus this.
        keepdims: True if the result keeps those axes, with size 1.
        where: a mask of the elements that take part.
        mean: the mean, if it is known, with those axes kept.

    Raises:
        TypeError: `a` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, or `where` has no booleans.
        NotImplementedError: `out` is given.

    >>> jnp.nanstd(jnp.array([1.0, jnp.nan, 3.0]))
    Array(1., dtype=float32)
    """
    return lax.sqrt(nanvar(a, axis, dtype, out, ddof, keepdims, where, mean))
