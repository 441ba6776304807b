"""Arguments of functions of random numbers: shapes, dtypes, parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array, as_array
from irax.core.dtypes.operands import broadcast_shapes
from irax.core.dtypes.promotion import convert
from irax.lax.arguments import canonical_shape


def shape_of(what: str, shape: Any, *parameters: Array) -> tuple[int, ...]:
    """Return the requested shape, or that of the parameters, broadcast, if it is None.

    Raises:
        TypeError: a size is not an int.
        ValueError: a size is negative, or the parameters do not broadcast to the shape.
    """
    shapes = [p.shape for p in parameters]
    if shape is None and parameters:
        return broadcast_shapes(*shapes, what=what)
    sizes = canonical_shape(what, shape)
    try:
        fits = broadcast_shapes(sizes, *shapes, what=what) == sizes
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise ValueError(
            f"{what}: the parameters, of shape {', '.join(map(str, shapes))}, must broadcast to "
            f"the shape of the result, {sizes}"
        )
    return sizes


def dtype_of(what: str, dtype: Any, kind: Any = np.floating) -> np.dtype[Any]:
    """Return the requested dtype, or the default one of its kind if it is None.

    Raises:
        ValueError: it is not of the kind.
    """
    default, name = _KINDS[kind]
    found = dtypes.requested_dtype(default if dtype is None else dtype, f"random.{what}")
    if not dtypes.issubdtype(found, kind):
        raise ValueError(f"{what}: dtype must be {name} type, got {found}")
    return found


_KINDS: dict[Any, tuple[Any, str]] = {
    np.floating: (float, "a floating-point"),
    np.inexact: (float, "a floating-point or complex"),
    np.integer: (int, "an integer"),
    np.unsignedinteger: (np.uint32, "an unsigned integer"),
}


def check_method(what: str, method: str) -> None:
    """Raises ValueError unless a method of drawing is one that JAX has."""
    if method not in ("exact", "approximate"):
        raise ValueError(f"{what}: method must be 'exact' or 'approximate', got {method!r}")


def parameters(what: str, dtype: np.dtype[Any], **named: Any) -> list[Array]:
    """Return parameters of a distribution in the dtype of its numbers.

    Raises:
        TypePromotionError: one has a wider dtype (a ValueError).
    """
    dtypes.judge_dtypes(*named.values())
    found = []
    for name, value in named.items():
        array = as_array(value, f"{what}: {name}")
        if dtypes.result_type(array, dtype) != dtype:
            raise dtypes.TypePromotionError(
                f"{what}: {name} has dtype {array.dtype}, which does not fit into the dtype asked "
                f"for, {dtype}: convert it, or ask for dtype={array.dtype}"
            )
        found.append(convert(array, dtype))
    return found
