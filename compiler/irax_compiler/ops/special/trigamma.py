"""trigamma, the derivative of digamma."""

from __future__ import annotations

from functools import partial

import numpy as np

from irax_compiler.mlir import Value
from irax_compiler.ops import elementwise
from irax_compiler.ops.formula import Number, function, polynomial, where

_TERMS = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)
"""Bernoulli's numbers, the coefficients of the asymptotic series."""

sine = partial(function, elementwise.sine)


def trigamma(x: Value) -> Value:
    """polygamma(1, x), by formulas whose derivatives keep their digits."""
    place = Number(x)
    negative = place < 0
    v = where(negative, 1.0 - place, place)
    start, count = (6, 4) if place.dtype.itemsize <= 4 else (10, 9)
    large = v > float(start)
    near = where(large, 1.0, v)
    total = None
    for m in reversed(range(start)):
        inverse = 1.0 / (near + float(m))
        total = inverse * inverse if total is None else total + inverse * inverse
    assert total is not None
    # By the series of 1 / far from there on.
    inverse = 1.0 / where(large, v, near + float(start))
    square = inverse * inverse
    rest = inverse * (inverse * polynomial(square, _TERMS[:count]) + 0.5)
    result = where(large, 0.0, total) + inverse * (rest + 1.0)
    # The sum of both, at x and at 1 - x, is (pi / sin(pi x))**2.
    away = where(negative, place - function(elementwise.round_nearest_even, place), 0.25)
    cosecant = np.pi / sine(away * np.pi)
    return where(negative, cosecant * cosecant - result, result).value
