"""Operands of functions of irax.nn."""

from __future__ import annotations

from irax.core.array import Array
from irax.core.operands import as_arrays, inexact_dtype
from irax.core.promotion import convert
from irax.typing import ArrayLike


def inexact(name: str, x: ArrayLike) -> Array:
    """Return an array of floats or complex numbers; integers become floats."""
    (array,) = as_arrays([x], f"nn.{name}")
    return convert(array, inexact_dtype(array.dtype), array.weak_type)
