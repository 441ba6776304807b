"""The largest and smallest elements: both ends of a range, and several of one end."""

from __future__ import annotations

import numpy as np

from irax import lax
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays
from irax.lax.arguments import canonical_axis, canonical_int
from irax.numpy.aggregates.reductions import max, min
from irax.numpy.elementwise.logic import isnan, where
from irax.numpy.searching import take_along_axis
from irax.numpy.tables import no_out
from irax.typing import ArrayLike, Axis


def minmax(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    where: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """Return the smallest and the largest element over axes; nan for both if any is.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        out: not supported.
        keepdims: True if the results keep those axes, with size 1.
        initial: a number that takes part, or a tuple of one for the smallest and one for the
            largest element.
        where: booleans: the elements that take part; it needs `initial`.

    Raises:
        TypeError: `a` is not an array, or `axis` is not an int.
        ValueError: there are no elements, or there is no such axis.
        NotImplementedError: `out` is given.

    >>> jnp.minmax(jnp.array([3, 1, 7]))
    (Array(1, dtype=int32), Array(7, dtype=int32))
    """
    no_out("minmax", out)
    low, high = initial if isinstance(initial, tuple) else (initial, initial)
    options = {"keepdims": keepdims, "where": where}
    return min(a, axis, initial=low, **options), max(a, axis, initial=high, **options)


def top_k(
    a: ArrayLike, k: int, /, *, axis: int = -1, mode: str = "largest", sorted: bool = True
) -> list[Array]:
    """Return the k largest or smallest elements along an axis, and their indices.

    Of equal elements the first comes first. nan is larger than all numbers.

    Args:
        a: an array of booleans, integers or floats.
        k: the number of elements.
        axis: the axis along which to select.
        mode: "largest", in descending order, or "smallest", in ascending order.
        sorted: of no effect: the elements are in order in any case.

    Returns:
        The elements and their indices, of size k along the axis.

    Raises:
        TypeError: `a` is not an array, or `k` or `axis` not an int.
        ValueError: complex numbers, another `mode`, no such axis, or `k` is negative or larger
            than the axis.

    >>> jnp.top_k(jnp.array([5, 1, 7]), 2, mode="smallest")
    [Array([1, 5], dtype=int32), Array([1, 0], dtype=int32)]
    """
    (x,) = as_arrays([a], "top_k")
    if np.issubdtype(x.dtype, np.complexfloating):
        raise ValueError(f"top_k: complex numbers have no order, got {x.dtype}")
    if mode not in ("largest", "smallest"):
        raise ValueError(f"top_k: mode must be 'largest' or 'smallest', got {mode!r}")
    axis = canonical_axis("top_k", axis, x.ndim)
    k = canonical_int("top_k", "k", k)
    if mode == "largest":
        return lax.top_k(x, k, axis=axis)
    _, places = lax.top_k(_reversed(x), k, axis=axis)
    return [take_along_axis(x, places, axis), places]


def _reversed(x: Array) -> Array:
    """Return numbers in the opposite order, in which every nan is the smallest."""
    if not np.issubdtype(x.dtype, np.floating):
        return lax.bitwise_not(x)
    return where(isnan(x), np.copysign(np.array(np.nan, x.dtype), -1), lax.neg(x))
