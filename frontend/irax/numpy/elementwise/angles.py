"""Trigonometric and hyperbolic functions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from irax.core.array import Array
from irax.core.dtypes.promotion import in_float32, is_narrow
from irax.numpy.elementwise.complex_parts import imag, real
from irax.numpy.elementwise.logic import (
    equal,
    isfinite,
    isinf,
    less,
    logical_and,
    where,
)
from irax.numpy.elementwise.rounding import rint
from irax.numpy.signatures import Unary
from irax.numpy.tables import (
    binary,
    elementwise,
    float_unary,
    floats,
)
from irax.numpy.ufuncs import abs, add, divide, multiply, square, subtract
from irax.typing import ArrayLike
from irax_compiler.ops import elementwise as ew
from irax_compiler.ops.special import chlo_functions

if TYPE_CHECKING:
    from irax.numpy.ufunc_objects import BinaryUfunc

sin: Unary = float_unary("sin", ew.sine, "The sine of an angle in radians.")
cos: Unary = float_unary("cos", ew.cosine, "The cosine of an angle in radians.")
tan: Unary = float_unary("tan", ew.tan, "The tangent of an angle in radians.")
sinh: Unary = float_unary("sinh", chlo_functions.sinh, "The hyperbolic sine.")
cosh: Unary = float_unary("cosh", chlo_functions.cosh, "The hyperbolic cosine.")
tanh: Unary = float_unary("tanh", ew.tanh, "The hyperbolic tangent.")
arcsin: Unary = float_unary(
    "arcsin", chlo_functions.asin, "The angle whose sine is x; nan beyond +-1."
)
asin: Unary = arcsin
arccos: Unary = float_unary(
    "arccos", chlo_functions.acos, "The angle whose cosine is x; nan beyond +-1."
)
acos: Unary = arccos
arctan: Unary = float_unary("arctan", chlo_functions.atan, "The angle whose tangent is x.")
atan: Unary = arctan
arcsinh: Unary = float_unary(
    "arcsinh", chlo_functions.asinh, "The number whose hyperbolic sine is x."
)
asinh: Unary = arcsinh
arccosh: Unary = float_unary(
    "arccosh", chlo_functions.acosh, "The number whose hyperbolic cosine is x."
)
acosh: Unary = arccosh
arctanh: Unary = float_unary(
    "arctanh", chlo_functions.atanh, "The number whose hyperbolic tangent is x."
)
atanh: Unary = arctanh
arctan2: BinaryUfunc = binary(
    "arctan2", ew.atan2, "The angle, in radians, of the point (x2, x1).", kind=np.inexact
)
atan2: BinaryUfunc = arctan2


@elementwise
def deg2rad(x: ArrayLike, /) -> Array:
    """Convert degrees to radians.

    >>> jnp.deg2rad(180.0).round(3)
    Array(3.142, dtype=float32, weak_type=True)
    """
    return multiply(floats("deg2rad", x), float(np.pi / 180))


@elementwise
def rad2deg(x: ArrayLike, /) -> Array:
    """Convert radians to degrees.

    >>> jnp.rad2deg(jnp.pi)
    Array(180., dtype=float32, weak_type=True)
    """
    return multiply(floats("rad2deg", x), float(180 / np.pi))


radians = deg2rad
degrees = rad2deg


@elementwise
def sinc(x: ArrayLike, /) -> Array:
    """Return sin(pi x) / (pi x), 1 at 0 and 0 at infinities.

    >>> jnp.sinc(jnp.array([0.0, 0.5])).round(3)
    Array([1.   , 0.637], dtype=float32)
    """
    number = floats("sinc", x)
    if is_narrow(number.dtype):
        return in_float32(sinc, number)
    near = less(abs(number), 0.5)
    # The sine by the distance from an integer, which is exact, and odd integers' sign.
    is_limit = logical_and(isinf(real(number)), isfinite(imag(number)))
    safe = where(is_limit, 2, where(near, 1, number))  # of 2, it is 0 too
    whole = rint(real(safe))
    half = multiply(whole, 0.5)
    sign = where(equal(half, rint(half)), 1 / np.pi, -1 / np.pi)
    far = divide(multiply(sin(multiply(subtract(safe, whole), np.pi)), sign), safe)
    # By its series where derivatives of the quotient cancel.
    squared = square(multiply(where(near, number, 0), np.pi))
    is_double = number.dtype.itemsize > 4 + 4 * (number.dtype.kind == "c")
    series = multiply(squared, 0)
    for k in reversed(range(12 if is_double else 7)):
        series = add(multiply(squared, series), (-1) ** k / math.factorial(2 * k + 1))
    return where(near, series, far)
