"""Window functions, for signals and filters."""

from __future__ import annotations

import numpy as np

from irax import dtypes
from irax.core.array import Array, as_array
from irax.core.dispatch import bind
from irax.core.dtypes.operands import as_arrays, inexact_dtype
from irax.core.dtypes.promotion import convert
from irax.lax.arguments import canonical_int, documented
from irax.numpy.elementwise.exponentials import exp
from irax.numpy.signatures import Window
from irax.numpy.ufuncs import divide, multiply, sign
from irax.typing import ArrayLike
from irax_compiler.ops.special import bessel


def _window(name: str, doc: str, example: str) -> Window:
    def function(M: int) -> Array:
        values = getattr(np, name)(canonical_int(name, "M", M))
        return as_array(values.astype(dtypes.default_float()))

    doc += f""" Its largest values are in the middle.

Args:
    M: the length of the window.

Raises:
    TypeError: `M` is no integer.

>>> irax.numpy.{name}(4).round(2)
Array({example}, dtype=float32)"""
    return documented(function, name, doc, "irax.numpy")


bartlett: Window = _window("bartlett", "The triangular window.", "[0.  , 0.67, 0.67, 0.  ]")
blackman: Window = _window(
    "blackman", "The Blackman window: cosines.", "[-0.  ,  0.63,  0.63, -0.  ]"
)
hamming: Window = _window(
    "hamming", "The Hamming window, a raised cosine.", "[0.08, 0.77, 0.77, 0.08]"
)
hanning: Window = _window("hanning", "The Hann window, a cosine.", "[0.  , 0.75, 0.75, 0.  ]")


def kaiser(M: int, beta: ArrayLike) -> Array:
    """Return the Kaiser window of length M.

    Args:
        M: the length.
        beta: the shape parameter; 0 is a rectangle, larger values are narrower.

    Raises:
        TypeError: `M` is not an int, or `beta` is not a number.

    >>> irax.numpy.kaiser(3, 2.0).round(2)
    Array([0.44, 1.  , 0.44], dtype=float32)
    """
    n = canonical_int("kaiser", "M", M)
    dtype = dtypes.default_float()
    (steepness,) = as_arrays([beta], "kaiser")
    if n <= 1:
        return as_array(np.ones(max(n, 0), dtype))
    places = (np.arange(n) - (n - 1) / 2) / ((n - 1) / 2)
    widths = as_array(np.sqrt(np.maximum(1 - places**2, 0)).astype(dtype))
    steepness = convert(steepness, dtype)
    return divide(i0(multiply(widths, steepness)), i0(steepness))


def i0(x: ArrayLike) -> Array:
    """Return the modified Bessel function of the first kind and order 0.

    Args:
        x: an array of real numbers, or a number.

    Returns:
        Floats, in the same shape.

    Raises:
        TypeError: not an array or a number.
        ValueError: complex numbers.

    >>> irax.numpy.i0(1.0)
    Array(1.266066, dtype=float32, weak_type=True)
    """
    (at,) = as_arrays([x], "i0")
    if at.dtype.kind == "c":
        raise ValueError("i0: complex numbers are not supported")
    at = convert(at, inexact_dtype(at.dtype), at.weak_type)
    scaled = bind(bessel.BesselI0e(), at, weak_type=at.weak_type)
    size = multiply(at, sign(at))  # whose derivative at 0 is 0
    return multiply(exp(size), scaled)
