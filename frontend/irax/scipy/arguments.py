"""Helpers of irax.scipy: operands as floats, and polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax.core.array import Array
from irax.core.dtypes.operands import inexact_dtype
from irax.core.dtypes.promotion import convert, promote, promote_dtypes
from irax.typing import ArrayLike


def floats(what: str, *operands: ArrayLike, error: type[Exception] = TypeError) -> list[Array]:
    """Return the operands as arrays of one shape and one float dtype.

    Raises:
        TypeError: one is a list.
        error: they are complex.
        ValueError: their shapes do not broadcast.
    """
    arrays = promote(*operands, what=what)
    dtype = inexact_dtype(arrays[0].dtype)
    if dtype.kind == "c":
        raise error(f"{what}: expected real numbers, got {dtype}; take their parts, or abs")
    return [convert(x, dtype, x.weak_type) for x in arrays]


def inexact(what: str, *operands: ArrayLike) -> list[Array]:
    """Return the operands as arrays of one float or complex dtype, each of its own shape."""
    arrays = promote_dtypes(*operands, what=what)
    dtype = inexact_dtype(arrays[0].dtype)
    return [convert(x, dtype, x.weak_type) for x in arrays]


def from_lists(operand: Any) -> Any:
    """Return an array of nested lists of numbers; any other operand as it is."""
    return jnp.asarray(operand) if isinstance(operand, list | tuple) else operand


def real_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the real part of numbers."""
    number: Any = np.zeros((), dtype)
    return number.real.dtype


def polynomial(coefficients: Sequence[float], x: Array) -> Array:
    """Evaluate a polynomial at x, by Horner's rule; the coefficients begin with the
    constant one.
    """
    *others, last = map(float, coefficients)
    total = jnp.full_like(x, last)
    for coefficient in reversed(others):
        total = jnp.add(jnp.multiply(total, x), coefficient)
    return total


def unsupported(what: str, name: str, value: Any, expected: Any = None) -> None:
    """Raise NotImplementedError if an argument is not the one value that is supported."""
    if value is not expected and value != expected:
        raise NotImplementedError(
            f"{what}: {name}={value!r} is not supported; expected {name}={expected!r}"
        )
