"""Special functions, their domains, and mpmath's functions of the same names.

Of each there are points of all sizes, from the whole domain. A result may be wrong by `ulps` of its
own last bits, and by what the rounding of the arguments does to it (the condition).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy as np

mp = mpmath.mp.clone()
mp.dps = 40


@dataclass(frozen=True)
class Table:
    """A function, and how its points are drawn: for each argument the least and the largest."""

    exact: Callable[..., object]
    ranges: tuple[tuple[float, float], ...]
    ulps: tuple[int, int] = (8, 8)
    """The numbers for float32 and for float64."""
    why: str = ""
    """The reason, where it is more than 8."""
    least: float = 0.0
    """The size that errors are relative to, where the result is smaller: near a zero."""

    def points(self, count: int, kind: str) -> list[np.ndarray]:
        """Return points between the limits: half of them of all sizes, half evenly spread."""
        rng = np.random.default_rng(7)
        tiny, huge = float(np.finfo(kind).tiny) * 1e3, float(np.finfo(kind).max) / 8
        found = []
        for low, high in self.ranges:
            ends = np.clip([low, high], -huge, huge)
            sizes = np.exp(rng.uniform(np.log(tiny), np.log(np.abs(ends).max()), count))
            signs = np.where(rng.random(count) < 0.5, -1, 1)
            signs = signs if low < 0 < high else np.full(count, -1 if high <= 0 else 1)
            spread = np.clip(ends, -40, 40) if low < 40 and high > -40 else ends
            even = rng.uniform(*spread, count)
            x = np.where(rng.random(count) < 0.5, sizes * signs, even)
            found.append(np.clip(x, *ends).astype(kind))
        return found


INF = np.inf
ANY, POSITIVE, SHARE = (-INF, INF), (0.0, INF), (0.0, 1.0)


def log_ndtr(x):
    if x > 0:
        return mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2)
    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)


def erfcx(x):
    return (
        mp.exp(x * x) * mp.erfc(x)
        if x < 1e4
        else mp.hyp2f0(1, 0.5, -1 / x**2) / (x * mp.sqrt(mp.pi))
    )


def deviance(x, y):
    return x * mp.log(x / y) - x + y


def dawson(x):
    if abs(x) > 1e3:
        return mp.hyp2f0(1, 0.5, 1 / x**2, maxterms=10**4) / (2 * x)
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


TABLES = {
    "beta": Table(
        mp.beta,
        ((0.01, 1e4), (0.01, 1e4)),
        (100, 400),
        "the exponential of a logarithm, whose last bit counts as often as it is large",
    ),
    "betaln": Table(
        lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b),
        ((0.0, 1e15), (0.0, 1e15)),
        (32, 32),
        "the difference of two logarithms of 20 times its size",
        1.0,
    ),
    "boxcox": Table(lambda x, p: mp.expm1(p * mp.log(x)) / p, (POSITIVE, (-5.0, 5.0))),
    "boxcox1p": Table(lambda x, p: mp.expm1(p * mp.log1p(x)) / p, ((-0.99, INF), (-5.0, 5.0))),
    "dawsn": Table(dawson, (ANY,)),
    "digamma": Table(
        mp.digamma, (POSITIVE,), (16, 16), "near its zero, and in compiled programs", 1.0
    ),
    "entr": Table(lambda x: -x * mp.log(x), (POSITIVE,)),
    "erf": Table(mp.erf, (ANY,)),
    "erfc": Table(mp.erfc, ((-INF, 100.0),)),
    "erfcx": Table(erfcx, ((-26.0, INF),)),
    "erfinv": Table(mp.erfinv, ((-0.999999, 0.999999),)),
    "exp1": Table(mp.e1, ((0.0, 600.0),), (400, 200), "the power series up to 2 loses digits"),
    "expi": Table(mp.ei, ((-600.0, 600.0),), (150, 80), "near its zero, and below 0 as exp1"),
    "expit": Table(lambda x: 1 / (1 + mp.exp(-x)), ((-700.0, INF),)),
    "factorial": Table(
        mp.factorial,
        ((0.0, 170.0),),
        (40, 24),
        "the exponential of a logarithm, whose last bit counts as often as it is large",
    ),
    "gamma": Table(
        mp.gamma,
        ((-30.5, 170.5),),
        (150, 400),
        "the exponential of a logarithm, whose last bit counts as often as it is large",
    ),
    "gammainc": Table(
        lambda a, x: mp.gammainc(a, 0, x, regularized=True),
        ((0.01, 1e3), (0.0, 1e3)),
        (32, 64),
        "the exponential of a logarithm, and loops of many steps",
    ),
    "gammaincc": Table(
        lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True),
        ((0.01, 1e3), (0.0, 1e3)),
        (5000, 20000),
        "1 less the lower function up to x = 1, also where that is near 1",
    ),
    "gammaln": Table(
        mp.loggamma,
        (POSITIVE,),
        (24, 24),
        "the compiled sum of terms that cancel near its zeros",
        1.0,
    ),
    "i0": Table(
        lambda x: mp.besseli(0, x),
        ((-700.0, 700.0),),
        (8, 60),
        "the compiled series of Chebyshev polynomials",
    ),
    "i0e": Table(
        lambda x: mp.besseli(0, x) * mp.exp(-abs(x)),
        (ANY,),
        (8, 60),
        "the compiled series of Chebyshev polynomials",
    ),
    "i1": Table(lambda x: mp.besseli(1, x), ((-700.0, 700.0),)),
    "i1e": Table(lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), (ANY,)),
    "kl_div": Table(deviance, (POSITIVE, POSITIVE)),
    "log_ndtr": Table(log_ndtr, ((-1e4, 30.0),)),
    "logit": Table(lambda p: mp.log(p) - mp.log1p(-p), (SHARE,)),
    "ndtr": Table(lambda x: mp.erfc(-x / mp.sqrt(2)) / 2, ((-100.0, INF),)),
    "poch": Table(
        lambda z, m: mp.gamma(z + m) / mp.gamma(z),
        ((0.1, 1e4), (0.0, 8.0)),
        (40, 24),
        "the exponential of a logarithm, whose last bit counts as often as it is large",
    ),
    "rel_entr": Table(lambda x, y: x * mp.log(x / y), (POSITIVE, POSITIVE)),
    "spence": Table(lambda x: mp.polylog(2, 1 - x).real, ((0.0, 1e4),)),
    "xlog1py": Table(lambda x, y: x * mp.log1p(y), (ANY, (-0.99, INF))),
    "xlogy": Table(lambda x, y: x * mp.log(y), (ANY, POSITIVE)),
    # Of larger exponents and shifts, the compiled formula's last term is up to 1e-13 of the sum.
    "zeta": Table(lambda s, q: mp.zeta(s, q), ((1.01, 20.0), (0.1, 40.0))),
}


def exact_and_allowed(table: Table, row: list[float], kind: str) -> tuple[float, float]:
    """Return the value, and how far from it a result may be."""
    x = [mp.mpf(v) for v in row]
    expected = mp.mpf(table.exact(*x))
    info = np.finfo(kind)
    eps = float(info.eps)
    allowed = table.ulps[kind == "f8"] * eps * max(abs(expected), table.least)
    allowed += float(info.tiny)
    for i, v in enumerate(x):
        moved = [*x[:i], v * (1 - eps), *x[i + 1 :]]
        allowed += 2 * abs(mp.mpf(table.exact(*moved)) - expected)
    return float(expected), float(allowed)
