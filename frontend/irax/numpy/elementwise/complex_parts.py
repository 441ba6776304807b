"""The parts of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax import dtypes, lax
from irax.core.array import Array
from irax.core.dispatch import bind
from irax.core.dtypes.operands import as_arrays
from irax.numpy.creation import array
from irax.numpy.signatures import Unary
from irax.numpy.tables import (
    elementwise,
)
from irax.typing import ArrayLike
from irax_compiler.ops import elementwise as ew


@elementwise
def real(x: ArrayLike, /) -> Array:
    """Return the real part.

    >>> jnp.real(jnp.array([1 + 2j, 3]))
    Array([1., 3.], dtype=float32)
    """
    (x,) = as_arrays([x], "real")
    return bind(ew.real, x, weak_type=x.weak_type) if x.dtype.kind == "c" else x


@elementwise
def imag(x: ArrayLike, /) -> Array:
    """Return the imaginary part.

    >>> jnp.imag(jnp.array([1 + 2j, 3]))
    Array([2., 0.], dtype=float32)
    """
    (x,) = as_arrays([x], "imag")
    if x.dtype.kind != "c":
        return lax.full_like(x, 0)
    return bind(ew.imag, x, weak_type=x.weak_type)


def by_parts(function: Unary, x: Array) -> Array:
    """Apply a function of real numbers to both parts of complex ones."""
    parts = function(bind(ew.real, x)), function(bind(ew.imag, x))
    return bind(ew.complex_, *parts, weak_type=x.weak_type)


@elementwise
def conjugate(x: ArrayLike, /) -> Array:
    """Return the complex conjugate.

    >>> irax.numpy.conjugate(1 + 2j)
    Array(1.-2.j, dtype=complex64, weak_type=True)
    """
    (x,) = as_arrays([x], "conjugate")
    if x.dtype.kind != "c":
        return x
    parts = bind(ew.real, x), bind(ew.negate, bind(ew.imag, x))
    return bind(ew.complex_, *parts, weak_type=x.weak_type)


conj = conjugate


def iscomplexobj(x: Any) -> bool:
    """Return True if the dtype is complex. A list is taken as an array of its elements.

    Args:
        x: an array, a number, or nested lists of numbers.

    Raises:
        TypeError: elements of another kind, such as texts.

    >>> jnp.iscomplexobj(jnp.array([3 + 0j]))
    True
    """
    if x is None or isinstance(x, bool | int | float | complex):
        return isinstance(x, complex)
    if not hasattr(x, "dtype"):
        x = array(x)
    return dtypes.issubdtype(x.dtype, np.complexfloating)


def isrealobj(x: Any) -> bool:
    """Return True if the dtype is not complex.

    Args:
        x: an array, a number, or nested lists of numbers.

    Raises:
        TypeError: elements of another kind, such as texts.

    >>> jnp.isrealobj(jnp.arange(3))
    True
    """
    return not iscomplexobj(x)
