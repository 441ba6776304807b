"""Functions of real numbers as the specification and IEEE 754 define them.

Each takes floats of Python's and a format, and returns the nearest number of the format, or `Free`
of one where the specification says nothing: of CHLO's functions at poles, of a division by zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
from tests.conformance.formats import Float

INF, NAN = math.inf, math.nan
mpmath.mp.prec = 240


@dataclass(frozen=True)
class Free:
    """A result that the specification does not name: what irax documents, mostly XLA's."""

    value: Any


def exact(x: Any) -> Fraction:
    """A finite number of mpmath's as a fraction."""
    sign, mantissa, exponent, _ = mpmath.mpf(x)._mpf_
    value = Fraction(int(mantissa)) * Fraction(2) ** exponent
    return -value if sign else value


def negative(x: float) -> bool:
    """True for numbers with a minus, -0.0 and -inf too."""
    return math.copysign(1, x) < 0


def is_odd(x: float) -> bool:
    """True for odd integers."""
    return math.isfinite(x) and x == int(x) and int(x) % 2 == 1


# ---- basic arithmetic: exact, rounded once -------------------------------------------------------


def add(x: float, y: float, to: Float) -> float:
    if not (math.isfinite(x) and math.isfinite(y)):
        return to.special(x + y)
    if x == 0 and y == 0:
        return to.rounded(Fraction(0), negative(x) and negative(y))
    return to.rounded(Fraction(x) + Fraction(y))


def subtract(x: float, y: float, to: Float) -> float:
    return add(x, -y, to) if not math.isnan(y) else to.special(NAN)


def multiply(x: float, y: float, to: Float) -> float:
    if not (math.isfinite(x) and math.isfinite(y)):
        return to.special(x * y)
    return to.rounded(Fraction(x) * Fraction(y), negative(x) != negative(y))


def divide(x: float, y: float, to: Float) -> float:
    if math.isnan(x) or math.isnan(y) or (math.isinf(x) and math.isinf(y)):
        return to.special(NAN)
    sign = -1 if negative(x) != negative(y) else 1
    if math.isinf(x):
        return to.special(sign * INF)
    if math.isinf(y):
        return to.rounded(Fraction(0), sign < 0)
    if y == 0:
        return to.special(NAN if x == 0 else sign * INF)
    return to.rounded(Fraction(x) / Fraction(y), sign < 0)


def remainder(x: float, y: float, to: Float) -> float:
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return to.special(NAN)
    if math.isinf(y):
        return x
    rest = abs(Fraction(x)) % abs(Fraction(y))
    return to.rounded(-rest if negative(x) else rest, negative(x))


def maximum(x: float, y: float, to: Float) -> float:
    if math.isnan(x) or math.isnan(y):
        return NAN
    if x == y:
        return y if negative(x) else x
    return max(x, y)


def minimum(x: float, y: float, to: Float) -> float:
    if math.isnan(x) or math.isnan(y):
        return NAN
    if x == y:
        return x if negative(x) else y
    return min(x, y)


def sign(x: float, to: Float) -> float:
    return x if x == 0 or math.isnan(x) else math.copysign(1.0, x)


def _integral(rounding: Callable[[Fraction], int]) -> Callable[[float, Float], float]:
    def rounded(x: float, to: Float) -> float:
        if not math.isfinite(x):
            return x
        return to.rounded(Fraction(rounding(Fraction(x))), negative(x))

    return rounded


def _away(x: Fraction) -> int:
    size = math.floor(abs(x) + Fraction(1, 2))
    return -size if x < 0 else size


floor = _integral(math.floor)
ceil = _integral(math.ceil)
round_nearest_even = _integral(round)
round_nearest_afz = _integral(_away)


def sqrt(x: float, to: Float) -> float:
    if x == 0 or math.isnan(x) or x == INF:
        return x
    return to.special(NAN) if x < 0 else to.rounded(exact(mpmath.sqrt(x)))


# ---- functions, by mpmath ------------------------------------------------------------------------


def smooth(
    function: Callable[[Any], Any],
    odd: bool = False,
    zero: float | Free | None = None,
    plus: float | Free = INF,
    minus: float | Free = NAN,
    domain: tuple[float, float] = (-INF, INF),
    at: dict[float, float | Free] | None = None,
    outside: float | Free = NAN,
) -> Callable[[float, Float], Any]:
    """A function by mpmath's, with its values at zero, at infinities and outside of its domain."""
    special = at or {}

    def value(x: float, to: Float) -> Any:
        if math.isnan(x):
            return x
        if math.isinf(x):
            limit = plus if x > 0 else minus
            return limit if isinstance(limit, Free) else to.rounded(float(limit))
        if x in special:
            limit = special[x]
            return limit if isinstance(limit, Free) else to.rounded(float(limit))
        if x == 0:
            if odd:
                return to.rounded(x)
            if zero is not None:
                return zero if isinstance(zero, Free) else to.rounded(float(zero))
        if not domain[0] <= x <= domain[1]:
            return outside if isinstance(outside, Free) else to.special(outside)
        return _computed(function, x, to)

    return value


def _computed(function: Callable[[Any], Any], x: float, to: Float) -> float | None:
    """The value, at a precision at which what is near to a number rounds rightly."""
    # A result may be as near to x as x's last place, squared: sin(1e-300) is.
    with mpmath.workprec(240 if abs(x) > 1e-20 and abs(x) < 1e20 else 2400):
        found = function(mpmath.mpf(x))
        if found is None:
            return None
        if mpmath.isinf(found):
            return to.special(float(found))
        if mpmath.isnan(found):
            return to.special(NAN)
        return to.rounded(exact(found), found < 0)


def _bounded(function: Callable[[Any], Any], most: float = 1500) -> Callable[[Any], Any]:
    """A function that grows or falls like exp, at arguments that any format overflows for."""
    return lambda x: function(mpmath.mpf(max(-most, min(most, x))))


def _bessel_i1e(x: Any) -> Any:
    if abs(x) < 1e6:
        return mpmath.exp(-abs(x)) * mpmath.besseli(1, x)
    y = 8 * abs(x)
    size = (1 - 3 / y - 15 / (2 * y**2) - 105 / (2 * y**3)) / mpmath.sqrt(2 * mpmath.pi * abs(x))
    return -size if x < 0 else size


def _digamma(x: Any) -> Any:
    if x < 0 and x == mpmath.floor(x):
        return mpmath.nan
    return None if _is_near_pole(x) else mpmath.digamma(x)


def _is_near_pole(x: Any) -> bool:
    """True for arguments whose last place changes the value of a gamma function."""
    return x < 0 and (x < -1e4 or abs(x - mpmath.nint(x)) < 1e-3)


def _lgamma(x: Any) -> Any:
    if abs(x) > 1e8 and x > 0:
        return (x - 0.5) * mpmath.log(x) - x + mpmath.log(2 * mpmath.pi) / 2 + 1 / (12 * x)
    if x < 0 and x == mpmath.floor(x):
        return mpmath.inf
    if x > 0:
        return mpmath.loggamma(x)
    return None if _is_near_pole(x) else mpmath.log(abs(mpmath.gamma(x)))


_rsqrt = smooth(lambda x: 1 / mpmath.sqrt(x), plus=0.0, domain=(0, INF))

_smooth_logistic = smooth(_bounded(lambda x: 1 / (1 + mpmath.exp(-x))), plus=1.0, minus=0.0)


def _logistic(x: float, to: Float) -> Any:
    """1 / (1 + exp(-x)), of which exp(-x) may be infinite, so that zero is left."""
    found = _smooth_logistic(x, to)
    return Free(found) if 0 < found < to.smallest_normal else found


UNARY: dict[str, Callable[[float, Float], Any]] = {
    "stablehlo.rsqrt": lambda x, to: to.special(math.copysign(INF, x)) if x == 0 else _rsqrt(x, to),
    "stablehlo.cbrt": smooth(
        lambda x: mpmath.sign(x) * mpmath.root(abs(x), 3), odd=True, minus=-INF
    ),
    "stablehlo.exponential": smooth(_bounded(mpmath.exp), minus=0.0),
    "stablehlo.exponential_minus_one": smooth(_bounded(mpmath.expm1), odd=True, minus=-1.0),
    "stablehlo.log": smooth(mpmath.log, zero=-INF, domain=(0, INF)),
    "stablehlo.log_plus_one": smooth(
        lambda x: mpmath.log(1 + x), odd=True, at={-1.0: -INF}, domain=(-1, INF)
    ),
    "stablehlo.sine": smooth(mpmath.sin, odd=True, plus=NAN),
    "stablehlo.cosine": smooth(mpmath.cos, plus=NAN),
    "stablehlo.tan": smooth(mpmath.tan, odd=True, plus=NAN),
    "stablehlo.tanh": smooth(_bounded(mpmath.tanh), odd=True, plus=1.0, minus=-1.0),
    "stablehlo.logistic": _logistic,
    "chlo.acos": smooth(mpmath.acos, plus=NAN, domain=(-1, 1)),
    "chlo.acosh": smooth(mpmath.acosh, domain=(1, INF)),
    "chlo.asin": smooth(mpmath.asin, odd=True, plus=NAN, domain=(-1, 1)),
    "chlo.asinh": smooth(mpmath.asinh, odd=True, minus=-INF),
    "chlo.atan": smooth(mpmath.atan, odd=True, plus=math.pi / 2, minus=-math.pi / 2),
    "chlo.atanh": smooth(
        mpmath.atanh, odd=True, plus=NAN, at={1.0: INF, -1.0: -INF}, domain=(-1, 1)
    ),
    "chlo.cosh": smooth(_bounded(mpmath.cosh), minus=INF),
    "chlo.tan": smooth(mpmath.tan, odd=True, plus=NAN),
    "chlo.sinh": smooth(_bounded(mpmath.sinh), odd=True, minus=-INF),
    "chlo.erf": smooth(_bounded(mpmath.erf, 100), odd=True, plus=1.0, minus=-1.0),
    "chlo.erfc": smooth(_bounded(mpmath.erfc, 100), plus=0.0, minus=2.0),
    "chlo.erf_inv": smooth(
        lambda x: mpmath.erfinv(x), odd=True, plus=NAN, at={1.0: INF, -1.0: -INF}, domain=(-1, 1)
    ),
    "chlo.bessel_i1e": smooth(_bessel_i1e, odd=True, plus=Free(0.0), minus=Free(0.0)),
    "chlo.lgamma": smooth(_lgamma, zero=Free(INF), minus=Free(INF), at={5e-324: Free(INF)}),
    "chlo.digamma": smooth(_digamma, zero=Free(NAN), minus=Free(NAN)),
}
"""Functions of one float, but for those that are exact."""

EXACT_UNARY: dict[str, Callable[[float, Float], Any]] = {
    "stablehlo.abs": lambda x, to: abs(x),
    "stablehlo.negate": lambda x, to: to.rounded(-x),
    "stablehlo.sign": sign,
    "stablehlo.ceil": ceil,
    "stablehlo.floor": floor,
    "stablehlo.round_nearest_even": round_nearest_even,
    "stablehlo.round_nearest_afz": round_nearest_afz,
    "stablehlo.sqrt": sqrt,
    "chlo.square": lambda x, to: multiply(x, x, to),
}
"""Functions whose result is the one number nearest to the exact one."""


def power(x: float, y: float, to: Float) -> Any:
    """pow of IEEE 754."""
    if y == 0 or x == 1:
        return 1.0
    if math.isnan(x) or math.isnan(y):
        return to.special(NAN)
    if math.isinf(y):
        if abs(x) == 1:
            return 1.0
        return to.special(INF) if (abs(x) > 1) == (y > 0) else to.rounded(0.0)
    minus = negative(x) and is_odd(y)
    if x == 0 or math.isinf(x):
        if (x == 0) == (y > 0):
            return to.rounded(Fraction(0), minus)
        return to.special(-INF if minus else INF)
    if x < 0 and y != int(y):
        return to.special(NAN)
    with mpmath.workprec(300):
        size = mpmath.log(abs(mpmath.mpf(x))) * y
    with mpmath.workprec(300 if abs(size) > 1e-20 else 2400):
        size = mpmath.log(abs(mpmath.mpf(x))) * y
        found = exact(mpmath.exp(max(-1500, min(1500, size))))
    return to.rounded(-found if minus else found, minus)


def atan2(y: float, x: float, to: Float) -> Any:
    """atan2 of IEEE 754."""
    if math.isnan(x) or math.isnan(y):
        return to.special(NAN)
    minus = negative(y)
    if y == 0 or (math.isinf(x) and not math.isinf(y)):
        return _turned(mpmath.pi if negative(x) else mpmath.mpf(0), minus, to)
    if math.isinf(y):
        turn = 2 if not math.isinf(x) else 4 if x > 0 else Fraction(4, 3)
        return _turned(mpmath.pi / turn if turn != Fraction(4, 3) else mpmath.pi * 3 / 4, minus, to)
    return _turned(mpmath.atan2(abs(mpmath.mpf(y)), mpmath.mpf(x)), minus, to)


def _turned(angle: Any, minus: bool, to: Float) -> float:
    value = exact(angle)
    return to.rounded(-value if minus else value, minus)


@cache
def neighbors(to: Float) -> list[float]:
    """All numbers of a narrow format, in order, zero once."""
    bits = np_bits(to)
    return sorted({x + 0.0 for x in bits if math.isfinite(x)})


def np_bits(to: Float) -> list[float]:
    """All values of a format of at most 16 bits."""
    import numpy as np

    if to.dtype.itemsize == 2:
        every = np.arange(2**16, dtype=np.uint16).view(to.dtype)
    else:
        every = np.arange(256, dtype=np.uint8).view(to.dtype)
    with np.errstate(all="ignore"):
        return every.astype(np.float64).tolist()


def next_after(x: float, y: float, to: Float) -> Any:
    """The number after x towards y, and y if they are equal."""
    if math.isnan(x) or math.isnan(y):
        return NAN
    if x == y:
        return y
    up = y > x
    if x == 0:
        return to.smallest if up else -to.smallest
    if math.isinf(x):
        return math.copysign(to.largest, x)
    unit = to.spacing(x)
    grows = up == (x > 0)
    if not grows and abs(math.frexp(x)[0]) == 0.5 and abs(x) > to.smallest_normal:
        unit /= 2
    found = abs(Fraction(x)) + (Fraction(unit) if grows else -Fraction(unit))
    if found > to.largest:
        return to.special(math.copysign(INF, x))
    return math.copysign(float(found), x)


def zeta(x: float, q: float, to: Float) -> Any:
    """Hurwitz's zeta function; its poles are irax's and SciPy's."""
    if math.isnan(x) or math.isnan(q):
        return NAN
    if x == 1:
        return Free(INF)
    if x < 1 or not math.isfinite(x) or not math.isfinite(q) or q <= 0:
        return None
    if x > 300 or q > 1e6 or q < 1e-6 or (x > 30 and q < 1e-2):
        return None
    return to.rounded(exact(mpmath.zeta(x, q)))


def polygamma(n: float, x: float, to: Float) -> Any:
    """The derivatives of digamma, of positive numbers."""
    if not (math.isfinite(n) and math.isfinite(x)) or n != int(n) or not 0 <= n <= 10:
        return None
    if x <= 1e-3 or x > 1e6:
        return None
    return to.rounded(exact(mpmath.polygamma(int(n), x)))


BINARY: dict[str, Callable[[float, float, Float], Any]] = {
    "stablehlo.power": power,
    "stablehlo.atan2": atan2,
    "chlo.zeta": zeta,
    "chlo.polygamma": polygamma,
}

EXACT_BINARY: dict[str, Callable[[float, float, Float], Any]] = {
    "stablehlo.add": add,
    "stablehlo.subtract": subtract,
    "stablehlo.multiply": multiply,
    "stablehlo.divide": divide,
    "stablehlo.remainder": remainder,
    "stablehlo.maximum": maximum,
    "stablehlo.minimum": minimum,
    "chlo.next_after": next_after,
}
