"""Exponentials, logarithms and roots."""

from __future__ import annotations

import math

import numpy as np

from irax import lax
from irax.core.array import Array
from irax.core.dtypes.promotion import elementwise_shortcut
from irax.lax.log_sums import log_add_exp_complex
from irax.numpy.elementwise.complex_parts import by_parts
from irax.numpy.elementwise.lengths import length
from irax.numpy.elementwise.logic import (
    equal,
    greater_equal,
    isfinite,
    logical_and,
    logical_not,
    where,
)
from irax.numpy.shapes.manipulation import broadcast_arrays
from irax.numpy.signatures import Unary
from irax.numpy.tables import (
    elementwise,
    float_unary,
    floats,
)
from irax.numpy.ufunc_objects import universal
from irax.numpy.ufuncs import (
    add,
    divide,
    multiply,
    subtract,
)
from irax.typing import ArrayLike
from irax_compiler.ops import elementwise as ew

exp: Unary = float_unary("exp", ew.exponential, "e to the power x.")
expm1: Unary = float_unary("expm1", ew.exponential_minus_one, "exp(x) - 1, accurate near 0.")
log: Unary = float_unary("log", ew.log, "The natural logarithm; -inf at 0, nan below.")
log1p: Unary = float_unary("log1p", ew.log_plus_one, "log(1 + x), accurate near 0.")
sqrt: Unary = float_unary("sqrt", ew.sqrt, "The square root; nan for negative numbers.")
cbrt: Unary = float_unary("cbrt", ew.cbrt, "The cube root.", np.floating)


@elementwise
def exp2(x: ArrayLike, /) -> Array:
    """Return 2 to the power x.

    >>> jnp.exp2(jnp.array([0.0, 3.0]))
    Array([1., 8.], dtype=float32)
    """
    return lax.exp2(floats("exp2", x))


@elementwise
def log2(x: ArrayLike, /) -> Array:
    """Return the logarithm to base 2.

    >>> jnp.log2(jnp.array([1.0, 8.0]))
    Array([0., 3.], dtype=float32)
    """
    return lax.log2(floats("log2", x))


@elementwise
def log10(x: ArrayLike, /) -> Array:
    """Return the logarithm to base 10.

    >>> jnp.log10(jnp.array([1.0, 100.0]))
    Array([0., 2.], dtype=float32)
    """
    return _in_units(log(x), math.log(10))


def _in_units(x: Array, unit: float) -> Array:
    if x.dtype.kind == "c":
        return by_parts(lambda part: divide(part, unit), x)
    return divide(x, np.asarray(unit).astype(x.dtype))


@universal(2, -np.inf)
@elementwise
def logaddexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return log(exp(x1) + exp(x2)), without overflow; its derivatives are the shares of the two.

    >>> irax.numpy.logaddexp(1000.0, 1000.0)
    Array(1000.6932, dtype=float32, weak_type=True)
    """
    x, y = floats("logaddexp", x1, x2)
    is_weak = x.weak_type and y.weak_type
    if x.dtype.kind == "c":
        return log_add_exp_complex(*broadcast_arrays(x, y)).with_weak_type(is_weak)
    return elementwise_shortcut("logaddexp", x, y, formula=_logaddexp_real)


def _logaddexp_real(x: Array, y: Array) -> Array:
    """Return log(exp(x) + exp(y)) of real numbers, by one formula wherever that holds, so that all
    derivatives are right where the numbers are equal.
    """
    ahead = greater_equal(x, y)
    large, small = where(ahead, x, y), where(ahead, y, x)
    is_same_infinity = logical_and(equal(large, small), logical_not(isfinite(large)))
    gap = where(is_same_infinity, 0, subtract(small, large))
    return add(large, log1p(exp(gap)))


@universal(2, -np.inf)
@elementwise
def logaddexp2(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return log2(2**x1 + 2**x2), without overflow.

    >>> jnp.logaddexp2(10.0, 10.0)
    Array(11., dtype=float32, weak_type=True)
    """
    x, y = floats("logaddexp2", x1, x2)
    return elementwise_shortcut("logaddexp2", x, y, formula=_logaddexp2)


def _logaddexp2(x: Array, y: Array) -> Array:
    scale = float(np.log(2))
    return divide(logaddexp(multiply(x, scale), multiply(y, scale)), scale)


@elementwise
def hypot(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return sqrt(x1**2 + x2**2), without overflow; its derivative at (0, 0) is that of the larger
    one.

    >>> irax.numpy.hypot(3.0, 4.0)
    Array(5., dtype=float32, weak_type=True)
    """
    x, y = floats("hypot", x1, x2)
    if x.dtype.kind == "c":
        raise ValueError("hypot: expected real numbers, got complex ones; take abs of them first")
    return elementwise_shortcut("hypot", x, y, formula=length)
