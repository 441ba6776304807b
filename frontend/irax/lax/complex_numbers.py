"""Complex numbers and their parts."""

from __future__ import annotations

import numpy as np

from irax import dtypes
from irax.core.array import Array
from irax.core.dtypes.operands import check_dtype
from irax.core.dtypes.promotion import apply, convert
from irax.lax.arguments import array_of, strict
from irax.lax.elementwise import INEXACT
from irax.typing import ArrayLike
from irax_compiler.ops import elementwise
from irax_compiler.ops.special import chlo_functions


def complex(x: ArrayLike, y: ArrayLike) -> Array:
    """Return x + iy of float32 or float64 arrays of one dtype and shape, or scalars.

    Args:
        x: the real part, an array of float32 or float64, or a number.
        y: the imaginary part, of the same dtype and shape.

    Raises:
        TypeError: other dtypes, or different ones.

    >>> irax.lax.complex(1.0, 2.0)
    Array(1.+2.j, dtype=complex64, weak_type=True)
    """
    what = "lax.complex"
    real_part, imaginary_part = strict(what, x, y)
    if real_part.dtype not in (np.float32, np.float64):
        raise TypeError(f"{what}: expected float32 or float64, got {real_part.dtype}")
    weak = real_part.weak_type and imaginary_part.weak_type
    result = apply(elementwise.complex_, real_part, imaginary_part, what=what)
    return result.with_weak_type(weak)


def _part(what: str, op: elementwise.Elementwise, x: ArrayLike) -> Array:
    array = array_of(what, x)
    check_dtype(what, array.dtype, np.complexfloating)
    return apply(op, array, what=what).with_weak_type(array.weak_type)


def real(x: ArrayLike) -> Array:
    """Return the real part of complex numbers.

    Args:
        x: an array of complex numbers, or a complex number.

    Returns:
        Floats, in the same shape.

    Raises:
        TypeError: `x` has another dtype.

    >>> irax.lax.real(irax.numpy.array([1 + 2j]))
    Array([1.], dtype=float32)
    """
    return _part("lax.real", elementwise.real, x)


def imag(x: ArrayLike) -> Array:
    """Return the imaginary part of complex numbers.

    Args:
        x: an array of complex numbers, or a complex number.

    Returns:
        Floats, in the same shape.

    Raises:
        TypeError: `x` has another dtype.

    >>> irax.lax.imag(irax.numpy.array([1 + 2j]))
    Array([2.], dtype=float32)
    """
    return _part("lax.imag", elementwise.imag, x)


def conj(x: ArrayLike) -> Array:
    """Return the complex conjugate; floats become complex numbers.

    Args:
        x: an array of floats or complex numbers, or a number.

    Returns:
        Complex numbers, in the same shape.

    Raises:
        TypeError: `x` has another dtype.

    >>> irax.lax.conj(irax.numpy.array([1 + 2j]))
    Array([1.-2.j], dtype=complex64)
    """
    what = "lax.conj"
    array = array_of(what, x)
    check_dtype(what, array.dtype, INEXACT)
    if not dtypes.issubdtype(array.dtype, np.complexfloating):
        wide = np.dtype(np.complex128 if array.dtype == np.float64 else np.complex64)
        return convert(array, wide, array.weak_type)
    return apply(chlo_functions.conj, array, what=what)
