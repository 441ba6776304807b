"""The functions of `derivative_table`, with their derivatives in mpmath's arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

import irax.numpy as jnp
import irax.scipy.special as special
from irax import lax, nn

Real = Callable[..., Any]


@dataclass(frozen=True)
class Subject:
    """A function of one number."""

    name: str
    function: Callable[..., Any]
    value: Real
    """The function in mpmath's arithmetic."""
    low: float = -np.inf
    high: float = np.inf
    reach: float = 20
    """Many places are from minus this number to it."""
    near: tuple[float, ...] = ()
    """Numbers near which many places are."""
    largest: float = np.inf
    slopes: tuple[Real, Real, Real] | None = None
    """The derivatives of order 1, 2 and 3; those of `value` by differences, if None."""


@dataclass(frozen=True)
class Pair:
    """A function of two numbers, and, by the operands that they are in, its derivatives; its value
    by "".
    """

    name: str
    function: Callable[..., Any]
    slopes: Callable[[Any, Any], dict[str, Any]]
    positive: bool = False
    largest: float = np.inf


def _number(text: str) -> Any:
    return mp.mpf(text)


def _logistic(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def _bell(x: Any) -> Any:
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def _below(x: Any) -> Any:
    """The distribution function of the normal distribution."""
    return _erfc(-x / mp.sqrt(2)) / 2


def _log_below(x: Any) -> Any:
    return mp.log1p(-_below(-x)) if x > 0 else mp.log(_below(x))


def _erfc(x: Any) -> Any:
    if abs(x) > 40:  # mpmath's overflows at extremes
        return mp.mpf(0 if x > 0 else 2)
    return mp.erfc(x) if abs(x) > 1e-30 else 1 - _erf(x)


def _erf(x: Any) -> Any:
    if abs(x) > 40:
        return mp.sign(x)
    return mp.erf(x) if abs(x) > 1e-30 else 2 / mp.sqrt(mp.pi) * x


def _of_bell(function: Real, first: Real) -> tuple[Real, Real, Real]:
    """Derivatives of a function whose first is a multiple of exp(-x**2)."""
    return first, lambda x: -2 * x * first(x), lambda x: (4 * x * x - 2) * first(x)


def _gelu(x: Any) -> Any:
    inner = mp.sqrt(2 / mp.pi) * (x + _number("0.044715") * x**3)
    return x * _logistic(2 * inner)


def _selu(x: Any) -> Any:
    scale, alpha = "1.0507009873554804934193349852946", "1.6732632423543772848170429916717"
    return _number(scale) * (x if x > 0 else _number(alpha) * mp.expm1(x))


def _erf_slope(x: Any) -> Any:
    return 2 / mp.sqrt(mp.pi) * mp.exp(-x * x)


SUBJECTS = [
    Subject("exp", jnp.exp, mp.exp),
    Subject("exp2", jnp.exp2, lambda x: mp.mpf(2) ** x, reach=1000),
    Subject("expm1", jnp.expm1, mp.expm1),
    Subject("log", jnp.log, mp.log, low=0, near=(1,)),
    Subject("log2", jnp.log2, lambda x: mp.log(x, 2), low=0, near=(1,)),
    Subject("log10", jnp.log10, mp.log10, low=0, near=(1,)),
    Subject("log1p", jnp.log1p, mp.log1p, low=-1, near=(0, -1)),
    Subject("sqrt", jnp.sqrt, mp.sqrt, low=0),
    Subject("rsqrt", lax.rsqrt, lambda x: 1 / mp.sqrt(x), low=0),
    Subject("cbrt", jnp.cbrt, lambda x: mp.sign(x) * mp.cbrt(abs(x))),
    Subject("square", jnp.square, lambda x: x * x),
    Subject("reciprocal", jnp.reciprocal, lambda x: 1 / x),
    Subject("x**5", lambda x: x**5, lambda x: x**5),
    Subject("x**-3", lambda x: x**-3, lambda x: x**-3),
    Subject("x**2.5", lambda x: x**2.5, lambda x: x ** mp.mpf(2.5), low=0),
    Subject("x**-1.5", lambda x: x**-1.5, lambda x: x ** mp.mpf(-1.5), low=0),
    Subject("3**x", lambda x: 3.0**x, lambda x: mp.mpf(3) ** x),
    Subject("sin", jnp.sin, mp.sin),
    Subject("cos", jnp.cos, mp.cos),
    Subject("tan", jnp.tan, mp.tan),
    Subject("sinc", jnp.sinc, lambda x: mp.sinc(mp.pi * x), near=(0,)),
    Subject("arcsin", jnp.arcsin, mp.asin, low=-1, high=1, near=(1, -1)),
    Subject("arccos", jnp.arccos, mp.acos, low=-1, high=1, near=(1, -1)),
    Subject("arctan", jnp.arctan, mp.atan),
    Subject("sinh", jnp.sinh, mp.sinh),
    Subject("cosh", jnp.cosh, mp.cosh),
    Subject("tanh", jnp.tanh, mp.tanh),
    Subject("arcsinh", jnp.arcsinh, mp.asinh),
    Subject("arccosh", jnp.arccosh, mp.acosh, low=1, near=(1,)),
    Subject("arctanh", jnp.arctanh, mp.atanh, low=-1, high=1, near=(1, -1)),
    Subject("sigmoid", nn.sigmoid, _logistic),
    Subject("log_sigmoid", nn.log_sigmoid, lambda x: -mp.log1p(mp.exp(-x))),
    Subject("softplus", nn.softplus, lambda x: mp.log1p(mp.exp(x))),
    Subject("silu", nn.silu, lambda x: x * _logistic(x)),
    Subject("gelu", nn.gelu, _gelu),
    Subject(
        "gelu, exact",
        lambda x: nn.gelu(x, approximate=False),
        lambda x: x * _below(x),
        slopes=(
            lambda x: _below(x) + x * _bell(x),
            lambda x: (2 - x * x) * _bell(x),
            lambda x: (x**3 - 4 * x) * _bell(x),
        ),
    ),
    Subject("mish", nn.mish, lambda x: x * mp.tanh(mp.log1p(mp.exp(x)))),
    Subject("elu", nn.elu, lambda x: x if x > 0 else mp.expm1(x)),
    Subject(
        "celu(alpha=2)", lambda x: nn.celu(x, 2.0), lambda x: x if x > 0 else 2 * mp.expm1(x / 2)
    ),
    Subject("selu", nn.selu, _selu),
    Subject("soft_sign", nn.soft_sign, lambda x: x / (1 + abs(x))),
    Subject("squareplus", nn.squareplus, lambda x: (x + mp.sqrt(x * x + 4)) / 2),
    Subject("log1mexp", nn.log1mexp, lambda x: mp.log(-mp.expm1(-x)), low=0, near=(np.log(2),)),
    Subject("logit", special.logit, lambda x: mp.log(x) - mp.log1p(-x), 0, 1, near=(0.5, 1)),
    Subject("entr", special.entr, lambda x: -x * mp.log(x), low=0),
    Subject("erf", special.erf, _erf, slopes=_of_bell(mp.erf, _erf_slope)),
    Subject("erfc", special.erfc, _erfc, slopes=_of_bell(mp.erfc, lambda x: -_erf_slope(x))),
    Subject(
        "ndtr",
        special.ndtr,
        _below,
        slopes=(_bell, lambda x: -x * _bell(x), lambda x: (x * x - 1) * _bell(x)),
    ),
    Subject(
        "gammaln",
        special.gammaln,
        mp.loggamma,
        low=0,
        near=(1, 2),
        slopes=tuple(lambda x, n=n: mp.psi(n, x) for n in range(3)),
    ),
    Subject(
        "digamma",
        special.digamma,
        mp.digamma,
        low=0,
        slopes=tuple(lambda x, n=n: mp.psi(n, x) for n in range(1, 4)),
    ),
    Subject(
        "expi",
        special.expi,
        mp.ei,
        slopes=(
            lambda x: mp.exp(x) / x,
            lambda x: mp.exp(x) * (1 / x - 1 / x**2),
            lambda x: mp.exp(x) * (1 / x - 2 / x**2 + 2 / x**3),
        ),
    ),
    Subject(
        "exp1",
        special.exp1,
        mp.e1,
        low=0,
        slopes=(
            lambda x: -mp.exp(-x) / x,
            lambda x: mp.exp(-x) * (1 / x + 1 / x**2),
            lambda x: -mp.exp(-x) * (1 / x + 2 / x**2 + 2 / x**3),
        ),
    ),
    Subject(
        "spence",
        special.spence,
        lambda x: mp.re(mp.polylog(2, 1 - x)),
        low=0,
        near=(1,),
        slopes=(
            lambda x: mp.log(x) / (1 - x),
            lambda x: 1 / (x * (1 - x)) + mp.log(x) / (1 - x) ** 2,
            lambda x: (3 * x - 1) / (x * (1 - x)) ** 2 + 2 * mp.log(x) / (1 - x) ** 3 - 0,
        ),
    ),
    Subject(
        "sici: the sine integral",
        lambda x: special.sici(x)[0],
        mp.si,
        near=(0,),
        slopes=(
            lambda x: mp.sin(x) / x,
            lambda x: mp.cos(x) / x - mp.sin(x) / x**2 if abs(x) > 1e-4 else -x / 3 + x**3 / 30,
            lambda x: -mp.sin(x) / x - 2 * mp.cos(x) / x**2 + 2 * mp.sin(x) / x**3,
        ),
    ),
    Subject(
        "sici: the cosine integral",
        lambda x: special.sici(x)[1],
        mp.ci,
        low=0,
        slopes=(
            lambda x: mp.cos(x) / x,
            lambda x: -mp.sin(x) / x - mp.cos(x) / x**2,
            lambda x: -mp.cos(x) / x + 2 * mp.sin(x) / x**2 + 2 * mp.cos(x) / x**3,
        ),
    ),
    Subject("i0e", special.i0e, lambda x: mp.exp(-abs(x)) * mp.besseli(0, x), largest=1e4),
    Subject("i1e", special.i1e, lambda x: mp.exp(-abs(x)) * mp.besseli(1, x), largest=1e4),
    Subject("erfcx", special.erfcx, lambda x: mp.exp(x * x) * mp.erfc(x), low=-9, largest=1e2),
    Subject(
        "dawsn",
        special.dawsn,
        lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
        largest=1e2,
    ),
    Subject("log_ndtr", special.log_ndtr, _log_below, largest=30),
]


def _shares(x: Any, y: Any, scale: Any = 1) -> dict[str, Any]:
    """Derivatives of log(exp(x) + exp(y)), or of that of another base."""
    gap = (x - y) * scale
    s, t = (_logistic(d) if d > -1e6 else mp.mpf(0) for d in (gap, -gap))
    product = s * t * scale
    big, small = max(x, y), min(x, y)
    value = big + mp.log1p(mp.exp((small - big) * scale)) / scale
    return {"": value, "0": s, "1": t, "00": product, "01": -product, "11": product}


def _share(x: Any, y: Any) -> dict[str, Any]:
    """Derivatives of exp(x) / (exp(x) + exp(y))."""
    p, q = (_logistic(d) if d > -1e6 else mp.mpf(0) for d in (x - y, y - x))
    first, second = p * q, p * q * (q - p)
    return {"": p, "0": first, "1": -first, "00": second, "01": -second, "11": second}


def _log_share(x: Any, y: Any) -> dict[str, Any]:
    p, q = (_logistic(d) if d > -1e6 else mp.mpf(0) for d in (x - y, y - x))
    log = -mp.log1p(mp.exp(y - x)) if x > y else x - y - mp.log1p(mp.exp(x - y))
    return {"": log, "0": q, "1": -q, "00": -p * q, "01": p * q, "11": -p * q}


def _of_angle(y: Any, x: Any) -> dict[str, Any]:
    square = x * x + y * y
    mixed, twice = (y * y - x * x) / square**2, 2 * x * y / square**2
    first = {"": mp.atan2(y, x), "0": x / square, "1": -y / square}
    return {**first, "00": -twice, "01": mixed, "11": twice}


def _of_length(x: Any, y: Any) -> dict[str, Any]:
    r = mp.sqrt(x * x + y * y)
    second = {"00": y * y / r**3, "01": -x * y / r**3, "11": x * x / r**3}
    return {"": r, "0": x / r, "1": y / r, **second}


def _of_power(x: Any, y: Any) -> dict[str, Any]:
    power, log = x**y, mp.log(x)
    mixed = power / x * (1 + y * log)
    second = {"00": y * (y - 1) * power / x**2, "01": mixed, "11": log * log * power}
    return {"": power, "0": y * power / x, "1": log * power, **second}


PAIRS = [
    Pair(
        "divide",
        jnp.divide,
        lambda x, y: {"": x / y, "0": 1 / y, "1": -x / y**2, "01": -1 / y**2, "11": 2 * x / y**3},
    ),
    Pair("power", jnp.power, _of_power, positive=True),
    Pair("arctan2", jnp.arctan2, _of_angle),
    Pair("hypot", jnp.hypot, _of_length),
    Pair("logaddexp", jnp.logaddexp, _shares),
    Pair("logaddexp2", jnp.logaddexp2, lambda x, y: _shares(x, y, mp.ln2)),
    Pair("softmax", lambda x, y: nn.softmax(jnp.stack([x, y]), 0)[0], _share),
    Pair("log_softmax", lambda x, y: nn.log_softmax(jnp.stack([x, y]), 0)[0], _log_share),
    Pair(
        "xlogy",
        special.xlogy,
        lambda x, y: {
            "": x * mp.log(y),
            "0": mp.log(y),
            "1": x / y,
            "01": 1 / y,
            "11": -x / y**2,
        },
        positive=True,
    ),
    Pair(
        "xlog1py",
        special.xlog1py,
        lambda x, y: {
            "": x * mp.log1p(y),
            "0": mp.log1p(y),
            "1": x / (1 + y),
            "01": 1 / (1 + y),
            "11": -x / (1 + y) ** 2,
        },
        positive=True,
    ),
]
