"""Logarithms of sums of exponentials of complex numbers."""

from __future__ import annotations

import numpy as np

from irax.core.array import Array
from irax.lax.complex_numbers import complex as complex_
from irax.lax.complex_numbers import imag, real
from irax.lax.control import select
from irax.lax.elementwise import (
    add,
    bitwise_and,
    bitwise_not,
    div,
    eq,
    exp,
    floor,
    gt,
    is_finite,
    log1p,
    mul,
    sub,
)
from irax.lax.structure import full_like


def log_add_exp_complex(x: Array, y: Array) -> Array:
    """Return log(exp(x) + exp(y)) of arrays of one complex dtype and shape, computed from the one
    with the larger real part. Imaginary parts are between -pi and pi.

    >>> x = irax.numpy.array([1000 + 4j])
    >>> irax.lax.log_sums.log_add_exp_complex(x, x)
    Array([1000.6932-2.2831855j], dtype=complex64)
    """
    ahead = gt(real(x), real(y))
    large, small = select(ahead, x, y), select(ahead, y, x)
    is_bounded = bitwise_and(is_finite(real(large)), is_finite(imag(large)))
    is_same_infinity = bitwise_and(eq(large, small), bitwise_not(is_bounded))
    gap = select(is_same_infinity, full_like(large, 0), sub(small, large))
    total = add(large, log1p(exp(gap)))
    turn = full_like(real(total), 2 * np.pi)
    turns = floor(add(div(imag(total), turn), full_like(turn, 0.5)))
    return complex_(real(total), sub(imag(total), mul(turns, turn)))
