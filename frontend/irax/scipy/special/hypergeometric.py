"""Hypergeometric functions, with derivatives in all parameters."""

from __future__ import annotations

from irax.core.array import Array
from irax.core.dtypes.promotion import apply
from irax.scipy.arguments import floats
from irax.typing import ArrayLike
from irax_compiler.ops.special import hypergeometric


def hyp1f1(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Kummer's confluent hypergeometric function 1F1(a; b; x).

    It has derivatives in all three; second ones in a and b in forward mode only. Where cancellation
    leaves no digit of the value, it is nan.

    Args:
        a: an array of real numbers, or a number.
        b: another one; they broadcast.
        x: another one; they broadcast.

    Raises:
        TypeError: not arrays or numbers.
        ValueError: complex numbers.

    >>> irax.scipy.special.hyp1f1(1.0, 1.0, 1.0).round(4)
    Array(2.7183, dtype=float32)
    """
    a, b, x = (v.astype(v.dtype) for v in floats("hyp1f1", a, b, x, error=ValueError))
    return apply(hypergeometric.Hyp1f1(), a, b, x, what="hyp1f1")


def hyp2f1(a: ArrayLike, b: ArrayLike, c: ArrayLike, x: ArrayLike) -> Array:
    """Gauss's hypergeometric function 2F1(a, b; c; x), for x up to 1; inf above.

    The nearer x is to 1, the more terms there are. It has derivatives in all four where x is below
    1; second ones in a, b and c in forward mode only. Where cancellation leaves no digit of the
    value, as for large parameters of opposite signs, it is nan.

    Args:
        a: an array of real numbers, or a number.
        b: another one; they broadcast.
        c: another one; they broadcast.
        x: another one; they broadcast.

    Raises:
        TypeError: not arrays or numbers, or complex ones.

    >>> irax.scipy.special.hyp2f1(1.0, 1.0, 2.0, 0.5).round(4)
    Array(1.3863, dtype=float32)
    """
    a, b, c, x = (v.astype(v.dtype) for v in floats("hyp2f1", a, b, c, x))
    return apply(hypergeometric.Hyp2f1(), a, b, c, x, what="hyp2f1")
