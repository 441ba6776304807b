"""irax.scipy.ndimage: interpolation between the elements of arrays."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays, inexact_dtype
from irax.core.dtypes.promotion import convert
from irax.lax.arguments import canonical_int
from irax.scipy.arguments import from_lists, real_dtype
from irax.typing import ArrayLike


def _mirrored(index: Array, size: int) -> Array:
    last = max(size - 1, 1)
    folded = jnp.abs(jnp.subtract(jnp.remainder(jnp.add(index, last), 2 * last), last))
    return jnp.minimum(folded, size - 1)


def _reflected(index: Array, size: int) -> Array:
    twice = jnp.remainder(index, 2 * size)
    return jnp.minimum(twice, jnp.subtract(2 * size - 1, twice))


_MODES: dict[str, Callable[[Array, int], Array]] = {
    "constant": lambda index, size: jnp.clip(index, 0, size - 1),
    "nearest": lambda index, size: jnp.clip(index, 0, size - 1),
    "wrap": lambda index, size: jnp.remainder(index, size),
    "mirror": _mirrored,
    "reflect": _reflected,
}


def map_coordinates(
    input: ArrayLike,
    coordinates: Sequence[ArrayLike],
    order: int,
    mode: str = "constant",
    cval: ArrayLike = 0.0,
) -> Array:
    """Interpolate an array at coordinates that need not be integers.

    Args:
        input: an array.
        coordinates: the coordinates along each of its dimensions, which broadcast.
        order: 0 for the nearest element, 1 for the linear interpolation between those around.
        mode: the extension beyond the array: "constant" (SciPy's "grid-constant"), "nearest",
            "wrap" (SciPy's "grid-wrap"), "mirror" or "reflect".
        cval: the constant outside, for "constant"; it becomes a number of the input's dtype.

    Returns:
        The values, of the input's dtype; integers are rounded.

    Raises:
        NotImplementedError: another order or mode.
        TypeError: complex coordinates, or a complex constant for a real array.
        ValueError: not a coordinate for each dimension.

    >>> map_coordinates(irax.numpy.array([10.0, 20.0]), [irax.numpy.array([0.5])], 1)
    Array([15.], dtype=float32)
    """
    what = "map_coordinates"
    if canonical_int(what, "order", order) not in (0, 1):
        raise NotImplementedError(f"{what}: order={order!r} is not supported; expected 0 or 1")
    if mode not in _MODES:
        listed = ", ".join(map(repr, _MODES))
        raise NotImplementedError(f"{what}: mode={mode!r} is not supported; expected {listed}")
    array, outside = as_arrays([from_lists(input), cval], what)
    if len(coordinates) != array.ndim:
        raise ValueError(
            f"{what}: coordinates must have an array for each of the {array.ndim} dimensions of "
            f"input, got {len(coordinates)}"
        )
    if outside.dtype.kind == "c" and array.dtype.kind != "c":
        raise TypeError(
            f"{what}: cval must be a real number, as input is of {array.dtype}; got {cval}"
        )
    outside = convert(outside, array.dtype)
    places = as_arrays([from_lists(c) for c in coordinates], what)
    if any(place.dtype.kind == "c" for place in places):
        raise TypeError(f"{what}: coordinates must be real numbers, got complex ones; take real()")
    dtype = inexact_dtype(dtypes.result_type(array, *places))
    real = real_dtype(dtype)
    corners: list[list[tuple[Array, Array, Array | None]]] = []
    for place, size in zip(places, array.shape, strict=True):
        place = convert(place, real)
        low = jnp.floor(place)
        share = jnp.subtract(place, low)
        if order == 0:
            near = [(lax.round(place), None)]
        else:
            near = [(low, jnp.subtract(1, share)), (jnp.add(low, 1), share)]
        found: list[tuple[Array, Array, Array | None]] = []
        for position, weight in near:
            index = position.astype(np.int32)
            valid = jnp.logical_and(jnp.greater_equal(index, 0), jnp.less(index, size))
            found.append((_MODES[mode](index, size), valid, weight))
        corners.append(found)
    total = None
    for corner in itertools.product(*corners):
        value = convert(array[tuple(index for index, _, _ in corner)], dtype)
        if mode == "constant" and corner:
            valid = functools.reduce(jnp.logical_and, (valid for _, valid, _ in corner))
            value = jnp.where(valid, value, convert(outside, dtype))
        for _, _, weight in corner:
            value = value if weight is None else jnp.multiply(value, weight)
        total = value if total is None else jnp.add(total, value)
    assert total is not None
    if dtypes.issubdtype(array.dtype, np.integer):
        total = lax.round(total)
    return convert(total, array.dtype)


from irax.execution.replay import replay_functions as _replay_functions  # noqa: E402

_replay_functions(__name__)
