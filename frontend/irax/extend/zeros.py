"""Operands of derivative rules that are no arrays: zeros, and operands that are transposed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array
from irax.core.avals import ShapedArray
from irax.transforms.symbolic_zeros import Zero as Zero
from irax.transforms.symbolic_zeros import zeros


@dataclass(frozen=True)
class UndefinedPrimal:
    """An operand with respect to which an operation is transposed: it has a type, no value."""

    aval: ShapedArray

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each dimension."""
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        return self.aval.dtype


def is_undefined_primal(x: Any) -> bool:
    """Return True if an operand of a transpose rule is one that is transposed."""
    return isinstance(x, UndefinedPrimal)


def instantiate_zeros(tangent: Any) -> Any:
    """Return a tangent as an array, and anything but a `Zero` as it is."""
    if not isinstance(tangent, Zero):
        return tangent
    if tangent.aval.dtype == dtypes.float0:
        return np.zeros(tangent.aval.shape, dtypes.float0)
    return zeros(tangent.aval)


def add_tangents(x: Any, y: Any) -> Array | Zero:
    """Return the sum of two tangents or cotangents, each of which may be a `Zero`."""
    if isinstance(x, Zero):
        return y
    return x if isinstance(y, Zero) else x + y
