"""Operands of functions of irax.nn."""

from __future__ import annotations

from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays, inexact_dtype
from irax.core.dtypes.promotion import convert
from irax.typing import ArrayLike


def inexact(name: str, x: ArrayLike, weak: bool = False) -> Array:
    """Return an array of floats or complex numbers; integers become floats, weakly typed ones if
    `weak` says so.
    """
    (array,) = as_arrays([x], f"nn.{name}")
    dtype = inexact_dtype(array.dtype)
    return convert(array, dtype, array.weak_type or (weak and dtype != array.dtype))
