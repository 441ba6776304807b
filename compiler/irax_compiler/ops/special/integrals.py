"""Integrals without a closed form: exponential, sine, cosine, Fresnel's, and the dilogarithm.

Each is a power series near 0 and a continued fraction, or the Faddeeva function, far from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from irax_compiler.mlir import Value
from irax_compiler.ops import elementwise
from irax_compiler.ops.composite import register_composed
from irax_compiler.ops.core import full_like
from irax_compiler.ops.formula import Number, function, polynomial, where
from irax_compiler.ops.special import chlo_functions
from irax_compiler.ops.special.normal import complex_number, scaled
from irax_compiler.ops.special.series import Smooth, State, is_single, steps

_EULER = float(np.euler_gamma)

exp = partial(function, elementwise.exponential)
log = partial(function, elementwise.log)
sine = partial(function, elementwise.sine)
cosine = partial(function, elementwise.cosine)
real = partial(function, elementwise.real)
imag = partial(function, elementwise.imag)


def _count(x: Number, single: int, double: int) -> int:
    return single if is_single(x) else double


def _odd(x: Number, value: Number) -> Number:
    """The value of an odd function at x, from that at abs(x); nan at nan."""
    return where(x.equals(x), where(x < 0, -value, value), np.nan)


# ---- exponential ---------------------------------------------------------------------------------


def _fraction(n: Number, x: Number, count: int) -> Number:
    """exp(x) E_n(x), for x far from 0."""
    start = x + n
    bottom = start + 2.0 * count
    for k in range(count, 0, -1):
        bottom = start + 2.0 * (k - 1) - (n + (k - 1.0)) * k / bottom
    return 1.0 / bottom


def _near(n: Number, x: Number) -> Number:
    """E_n(x) for n of at least 1 and x up to 1, by its power series; terms cancel above."""
    power = n - 1.0
    half = power * 0.5
    sign = where(half.equals(function(elementwise.floor, half)), power * 0.0 + 1.0, -1.0)
    size = exp(power * log(x) - function(chlo_functions.lgamma, n))
    total = sign * size * (function(chlo_functions.digamma, n) - log(x))
    term = x * 0.0 + 1.0
    for k in range(_count(x, 11, 19)):
        bottom = float(k) - power
        at_power = bottom.equals(0)
        total = total - where(at_power, 0.0, term / where(at_power, 1.0, bottom))
        term = term * x * (-1 / (k + 1))
    return total


def _expn(n: Number, x: Number) -> Number:
    safe_n = where(n > 1, n, 1.0)
    close = (x > 0) & (x <= 1)
    near = _near(safe_n, where(close, x, 1.0))
    large = where(x > 1, x, 3.0)
    far = exp(-large) * _fraction(safe_n, large, _count(x, 22, 104))
    value = where(close, near, where(x.equals(np.inf), 0.0, far))
    value = where(n.equals(0), exp(-x) / x, value)
    at_zero = where(n > 1, 1.0 / where(n > 1, n - 1.0, 1.0), np.inf)
    value = where(x.equals(0), at_zero, value)
    return where((x >= 0) & (n >= 0), value, np.nan)


@register_composed
class Expn(Smooth):
    """The exponential integral E_n(x): the integral of exp(-x t) / t**n from 1 on."""

    name = "irax.expn"

    def formula(self, n: Number, x: Number) -> Number:
        return _expn(n, x)

    def slopes(self, y: Number, n: Number, x: Number) -> list[Number | None]:
        first = n.equals(0)
        below = Number(expn(where(first, n, n - 1.0).value, x.value))
        return [None, where(first, -(exp(-x) / x * (1.0 / x + 1.0)), -below)]


@register_composed
class Expi(Smooth):
    """The exponential integral Ei: the integral of exp(t) / t up to x."""

    name = "irax.expi"

    def formula(self, x: Number) -> Number:
        edge = _count(x, 20, 40)
        # In units of 16: the coefficients for x itself are too small for float32.
        count = _count(x, 64, 130)
        series = [0.0] + [16.0**k * (1 / (k * math.factorial(k))) for k in range(1, count)]
        small = where((x > 0) & (x <= edge), x, 1.0)
        near = log(small) + _EULER + polynomial(small * (1 / 16), series)
        large = where(x > edge, x, float(edge))
        tail = polynomial(1.0 / large, [float(math.factorial(k)) for k in range(edge)])
        half = exp(large * 0.5)  # exp(x) may overflow where the quotient does not
        far = where(x.equals(np.inf), np.inf, half / large * half * tail)
        below = -_expn(Number(x._like(1.0)), -where(x < 0, x, 0.0))
        value = where(x > 0, where(x <= edge, near, far), below)
        return where(x.equals(x), value, np.nan)

    def slopes(self, y: Number, x: Number) -> list[Number | None]:
        return [function(ExponentialOver(), x)]


@register_composed
class ExponentialOver(Smooth):
    """exp(x) / x. Neither it nor its derivative overflows earlier than it must."""

    name = "irax.exponential_over"

    def formula(self, x: Number) -> Number:
        half = exp(x * 0.5)  # exp(x) may overflow where the quotient does not
        return half / x * half

    def slopes(self, y: Number, x: Number) -> list[Number | None]:
        half = exp(x * 0.5)
        return [(1.0 - 1.0 / x) * half / x * half]


# ---- sine and cosine -----------------------------------------------------------------------------


def _exponential_of_imaginary(x: Number) -> Number:
    """E_1(i x), for x of at least 4."""
    count, zero = _count(x, 30, 90), x * 0.0

    def step(number: Number, state: State) -> State:
        k = count - number
        start = complex_number((k - 1.0) * 2.0 + 1.0, x)
        bottom = start - complex_number(k * k, zero) / complex_number(*state)
        return real(bottom), imag(bottom)

    # A quotient of complex numbers is long: a loop has one.
    bottom = steps(count, (zero + (1.0 + 2.0 * count), x), step)
    fraction = 1.0 / complex_number(*bottom)
    return complex_number(cosine(x), -sine(x)) * fraction


@register_composed
class SineIntegral(Smooth):
    """The integral of sin(t) / t from 0 to x."""

    name = "irax.sine_integral"

    def formula(self, x: Number) -> Number:
        size = abs(x)
        close, endless = size <= 4, size.equals(np.inf)
        small = where(close, size, 1.0)
        series = [(-1) ** k / ((2 * k + 1) * math.factorial(2 * k + 1)) for k in range(18)]
        near = small * polynomial(small * small, series)
        far = imag(_exponential_of_imaginary(where(close | endless, 5.0, size)))
        far = where(endless, 0.0, far) + np.pi / 2
        return _odd(x, where(close, near, far))

    def slopes(self, y: Number, x: Number) -> list[Number | None]:
        near = abs(x) < 1.5
        other = where(near, 1.0, x)
        # By its series where derivatives of the quotient cancel.
        square = where(near, x, 0.0) * where(near, x, 0.0)
        series = [(-1) ** k / math.factorial(2 * k + 1) for k in range(_count(x, 7, 12))]
        return [where(near, polynomial(square, series), sine(other) / other)]


@register_composed
class CosineIntegral(Smooth):
    """The integral of cos(t) / t up to x; its real part where x is negative."""

    name = "irax.cosine_integral"

    def formula(self, x: Number) -> Number:
        size = abs(x)
        close, endless = size <= 4, size.equals(np.inf)
        small = where(close & (size > 0), size, 1.0)
        series = [0.0] + [(-1) ** k / (2 * k * math.factorial(2 * k)) for k in range(1, 18)]
        near = log(small) + _EULER + polynomial(small * small, series)
        far = -real(_exponential_of_imaginary(where(close | endless, 5.0, size)))
        value = where(close, near, where(endless, 0.0, far))
        return where(x > -np.inf, where(x.equals(0), -np.inf, value), np.nan)

    def slopes(self, y: Number, x: Number) -> list[Number | None]:
        return [cosine(x) / x]


# ---- Fresnel's -----------------------------------------------------------------------------------


def _phase(x: Number) -> Number:
    square = x * x
    # The sine repeats where x**2 grows by 4.
    return Number(elementwise.remainder(square.value, full_like(square.value, 4))) * (np.pi / 2)


def _fresnel(x: Number, part: int) -> Number:
    """The integral of the sine (1), or of the cosine (0)."""
    size = abs(x)
    close, endless = size <= 1.5, size.equals(np.inf)
    small = where(close, size, 0.0)
    square = small * small
    powers = range(part, 40, 2)
    series = [
        (-1) ** k * (np.pi / 2) ** p / (math.factorial(p) * (2 * p + 1))
        for k, p in enumerate(powers)
    ]
    near = polynomial(square * square, series) * small * (square if part else 1.0)
    large = where(close | endless, 2.0, size)
    along, phase = large * float(np.sqrt(np.pi) / 2), _phase(large)
    w = scaled(complex_number(along, -along))
    turned = complex_number(cosine(phase), sine(phase)) * w
    # The parts of (1 + i) / 2 times 1 - turned.
    difference = real(turned) + imag(turned) if part else real(turned) - imag(turned)
    far = 0.5 - where(endless, 0.0, difference * 0.5)
    return _odd(x, where(close, near, far))


@register_composed
class FresnelSine(Smooth):
    """The integral of sin(pi t**2 / 2) from 0 to x."""

    name = "irax.fresnel_sine"

    def formula(self, x: Number) -> Number:
        return _fresnel(x, 1)

    def slopes(self, y: Number, x: Number) -> list[Number | None]:
        return [sine(_phase(x))]


@register_composed
class FresnelCosine(Smooth):
    """The integral of cos(pi t**2 / 2) from 0 to x."""

    name = "irax.fresnel_cosine"

    def formula(self, x: Number) -> Number:
        return _fresnel(x, 0)

    def slopes(self, y: Number, x: Number) -> list[Number | None]:
        return [cosine(_phase(x))]


# ---- the dilogarithm -----------------------------------------------------------------------------

_EVEN_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


@register_composed
class Spence(Smooth):
    """The integral of log(t) / (1 - t) from 1 to x: the dilogarithm of 1 - x."""

    name = "irax.spence"

    def formula(self, x: Number) -> Number:
        above = x > 1
        y = where(above, 1.0 / where(above, x, 1.0), x)
        low = y < 0.5
        safe = where(low & (y > 0), y, 0.25)
        logarithm = log(where(above, x, 1.0))
        minus = function(elementwise.log_plus_one, -safe)
        u = where(low, -minus, where(above, logarithm, -log(where(low, 1.0, y))))
        # Li2(1 - exp(-u)) is the sum of B_k u**(k + 1) / (k + 1)! over the Bernoulli numbers B_k.
        series = [1.0] + [b / math.factorial(2 * k + 3) for k, b in enumerate(_EVEN_BERNOULLI)]
        square = u * u
        value = u * polynomial(square, series) - square * 0.25
        mirrored = -(log(safe) * minus + value) + np.pi**2 / 6
        value = where(low, where(y.equals(0), np.pi**2 / 6, mirrored), value)
        value = where(above, -(logarithm * logarithm * 0.5 + value), value)
        return where(x >= 0, value, np.nan)

    def slopes(self, y: Number, x: Number) -> list[Number | None]:
        apart = x - 1.0
        near = abs(apart) < 0.5
        other = where(near, 2.0, x)
        # log(x) = 2 artanh(w) for w = (x - 1) / (x + 1), by its series where derivatives cancel.
        inverse = 1.0 / (where(near, apart, 0.0) + 2.0)
        w = where(near, apart, 0.0) * inverse
        series = [1 / (2 * k + 1) for k in range(_count(x, 8, 18))]
        close = polynomial(w * w, series) * inverse * -2.0
        return [where(near, close, log(other) / (1.0 - other))]


expn: Callable[..., Value] = Expn()
