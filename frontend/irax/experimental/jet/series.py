"""Truncated power series, and elementwise functions of them.

A series is a list of the coefficients of t^0, t^1, ...; None is a coefficient that is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import irax.numpy as jnp

Series = list[Any]
Slope = Callable[[Series], Series]
"""From the coefficients of y so far to those of dy/dx."""


def product(multiply: Callable[[Any, Any], Any], x: Series, y: Series) -> Series:
    """Return the series of a bilinear function of two series of one length."""
    return [_total(_products(multiply, x, y, k)) for k in range(len(x))]


def _products(multiply: Callable[[Any, Any], Any], x: Series, y: Series, k: int) -> Series:
    pairs = [(x[i], y[k - i]) for i in range(k + 1)]
    return [multiply(a, b) for a, b in pairs if a is not None and b is not None]


def _total(terms: Sequence[Any]) -> Any:
    """The sum of terms, or None if there are none."""
    return sum(terms[1:], start=terms[0]) if terms else None


def multiply(x: Series, y: Series) -> Series:
    """Return x * y."""
    return product(jnp.multiply, x, y)


def divide(x: Series, y: Series) -> Series:
    """Return x / y."""
    quotient: Series = []
    for k, term in enumerate(x):
        known = _products(jnp.multiply, [None, *y[1 : k + 1]], [*quotient, None], k)
        rest = _total(([] if term is None else [term]) + [-p for p in known])
        quotient.append(None if rest is None else rest / y[0])
    return quotient


def scaled(x: Series, by: float) -> Series:
    """Return `by * x`."""
    return [None if c is None else by * c for c in x]


def plus(x: Series, constant: float) -> Series:
    """Return `x + constant`."""
    return [x[0] + constant, *x[1:]]


def integrated(y0: Any, x: Series, slope: Slope) -> Series:
    """Return y where dy/dx has the series `slope(y)`, and y begins with `y0`."""
    y: Series = [y0]
    for k in range(1, len(x)):
        rates = slope(y)
        terms = [
            i / k * x[i] * rates[k - i]
            for i in range(1, k + 1)
            if x[i] is not None and rates[k - i] is not None
        ]
        y.append(_total(terms))
    return y


def of_slope(function: Callable[[Any], Any], slope: Callable[[Series, Series], Series]) -> Any:
    """Return a function of series: `slope(x, y)` is the derivative as a series."""

    def rule(x: Series) -> Series:
        return integrated(function(x[0]), x, lambda y: slope(x[: len(y)], y))

    return rule


def _known(rates: Series) -> Slope:
    """A slope that does not depend on y."""
    return lambda y: rates


def waves(even: Callable[[Any], Any], odd: Callable[[Any], Any], sign: float) -> tuple[Any, Any]:
    """Return two functions of series of which each is the derivative of the other: that of the even
    one is `sign` times the odd one.
    """

    def both(x: Series) -> tuple[Series, Series]:
        c, s = [even(x[0])], [odd(x[0])]
        for _ in range(1, len(x)):
            part = x[: len(c) + 1]
            c, s = (
                integrated(c[0], part, _known(scaled(s, sign))),
                integrated(s[0], part, _known(c)),
            )
        return c, s

    return lambda x: both(x)[0], lambda x: both(x)[1]


_cos, _sin = waves(jnp.cos, jnp.sin, -1.0)
_cosh, _sinh = waves(jnp.cosh, jnp.sinh, 1.0)


def _one(x: Series) -> Series:
    return [jnp.ones_like(x[0]), *[None] * (len(x) - 1)]


def _square(x: Series) -> Series:
    return multiply(x, x)


def _reciprocal(x: Series) -> Series:
    return divide(_one(x), x)


UNARY: dict[str, Callable[[Series], Series]] = {
    "atan": of_slope(jnp.arctan, lambda x, y: _reciprocal(plus(_square(x), 1.0))),
    "cos": _cos,
    "cosh": _cosh,
    "exp": of_slope(jnp.exp, lambda x, y: y),
    "expm1": of_slope(jnp.expm1, lambda x, y: plus(y, 1.0)),
    "log": of_slope(jnp.log, lambda x, y: _reciprocal(x)),
    "log1p": of_slope(jnp.log1p, lambda x, y: _reciprocal(plus(x, 1.0))),
    "logistic": of_slope(
        lambda x: 1 / (1 + jnp.exp(-x)), lambda x, y: multiply(y, plus(scaled(y, -1.0), 1.0))
    ),
    "rsqrt": of_slope(lambda x: 1 / jnp.sqrt(x), lambda x, y: scaled(divide(y, x), -0.5)),
    "sin": _sin,
    "sinh": _sinh,
    "sqrt": of_slope(jnp.sqrt, lambda x, y: scaled(_reciprocal(y), 0.5)),
    "tan": of_slope(jnp.tan, lambda x, y: plus(_square(y), 1.0)),
    "tanh": of_slope(jnp.tanh, lambda x, y: plus(scaled(_square(y), -1.0), 1.0)),
}
"""The functions of one series that have a recurrence, by the names of their primitives."""
