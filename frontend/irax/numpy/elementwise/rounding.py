"""Rounding to integers and to decimals."""

from __future__ import annotations

from irax import dtypes
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.promotion import apply, convert
from irax.lax.arguments import canonical_int, documented
from irax.numpy.elementwise.complex_parts import by_parts
from irax.numpy.elementwise.logic import (
    less,
    where,
)
from irax.numpy.signatures import Unary
from irax.numpy.tables import (
    OF_ONE,
    elementwise,
    is_inexact,
    no_out,
)
from irax.numpy.ufuncs import divide, multiply
from irax.typing import ArrayLike
from irax_compiler.ops import elementwise as ew
from irax_compiler.ops.core import Op


def _rounding(name: str, op: Op, doc: str) -> Unary:
    def function(x: ArrayLike, /) -> Array:
        x = _real(name, x)
        return apply(op, x, what=name) if is_inexact(x) else x

    return documented(function, name, doc + OF_ONE.format("x"), "irax.numpy")


def _real(name: str, x: ArrayLike) -> Array:
    """Return x as an array. Raises TypeError for complex numbers."""
    (array,) = as_arrays([x], name)
    if array.dtype.kind == "c":
        raise TypeError(
            f"{name}: expected real numbers, got {array.dtype}; round the real and imag of x apart"
        )
    return array


floor: Unary = _rounding("floor", ew.floor, "The largest integer that is at most x, in x's dtype.")
ceil: Unary = _rounding("ceil", ew.ceil, "The smallest integer that is at least x, in x's dtype.")


@elementwise
def rint(x: ArrayLike, /) -> Array:
    """Round to the nearest integer, of two the even one, as a float; complex numbers by parts.

    >>> jnp.rint(jnp.array([0.5, 1.5, 1.7]))
    Array([0., 2., 2.], dtype=float32)
    """
    (number,) = as_arrays([x], "rint")
    if not is_inexact(number):
        return convert(number, dtypes.default_float())
    if number.dtype.kind == "c":
        return by_parts(rint, number)
    return apply(ew.round_nearest_even, number, what="rint")


@elementwise
def trunc(x: ArrayLike) -> Array:
    """Truncate x to its integral part, in x's dtype.

    >>> jnp.trunc(jnp.array([-1.5, 1.5]))
    Array([-1.,  1.], dtype=float32)
    """
    x = _real("trunc", x)
    return where(less(x, 0), ceil(x), floor(x)) if is_inexact(x) else x


fix = trunc


def round(a: ArrayLike, decimals: int = 0, out: None = None) -> Array:
    """Round to a number of decimals, of two nearest numbers to the even one; integers stay as they
    are.

    Args:
        a: an array, or a number.
        decimals: the number of decimals; of the places before the point, if negative.
        out: not supported.

    Raises:
        NotImplementedError: negative decimals of integers.

    >>> irax.numpy.round(irax.numpy.array([0.5, 1.5, 2.26]), 1)
    Array([0.5, 1.5, 2.3], dtype=float32)
    """
    no_out("round", out)
    decimals = canonical_int("round", "decimals", decimals)
    (x,) = as_arrays([a], "round")
    if not is_inexact(x):
        if decimals < 0:
            raise NotImplementedError("round: negative decimals of integers are not supported")
        return x
    if x.dtype.kind == "c":
        return by_parts(lambda part: round(part, decimals), x)
    if not decimals:
        return apply(ew.round_nearest_even, x, what="round")
    factor = 10.0**decimals
    return divide(apply(ew.round_nearest_even, multiply(x, factor), what="round"), factor)


around = round
