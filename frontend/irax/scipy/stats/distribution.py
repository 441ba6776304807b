"""Distributions of numbers: formulas in their standard location and scale, and a support.

The public functions follow from these: they standardize the argument, keep it in the support (so
that derivatives outside are 0, not nan), and give the values outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax.core.array import Array, as_array
from irax.core.dtypes.promotion import convert
from irax.execution.replay import replayed
from irax.lax.arguments import documented
from irax.scipy.arguments import floats
from irax.scipy.stats.tails import log_of_share

Formula = Callable[..., Any]
Bound = float | Callable[..., Any]

_TEXTS = {
    "pdf": "The probability density at {x}.",
    "logpdf": "The logarithm of the probability density at {x}; -inf outside of the support.",
    "pmf": "The probability of {x}.",
    "logpmf": "The logarithm of the probability of {x}; -inf where that is 0.",
    "cdf": "The probability of at most {x}.",
    "logcdf": "The logarithm of the probability of at most {x}.",
    "sf": "The probability of more than {x}.",
    "logsf": "The logarithm of the probability of more than {x}.",
    "ppf": "The inverse of cdf; nan where {x} is no probability.",
    "isf": "The inverse of sf; nan where {x} is no probability.",
}
_OUTSIDE = {  # below the support, above it
    "logpdf": (-np.inf, -np.inf),
    "logpmf": (-np.inf, -np.inf),
    "cdf": (0.0, 1.0),
    "logcdf": (-np.inf, 0.0),
    "sf": (1.0, 0.0),
    "logsf": (0.0, -np.inf),
}
_LOGARITHMS = {"pdf": "logpdf", "pmf": "logpmf"}
_NO_NUMBERS = (list, tuple, str, type(None))
"""Types that people give in the place of arrays."""
_OF_SHARES = ("logcdf", "logsf")


def _like(x: Array, found: Array) -> Array:
    """Return what was found with the dtype of x, weak if both are."""
    return convert(found, x.dtype, x.weak_type and found.weak_type)


def _middle(low: Array | float, high: Array | float) -> Array:
    """Return a finite number between two bounds that is neither."""
    endless_below, endless_above = jnp.isinf(low), jnp.isinf(high)
    between = jnp.multiply(0.5, jnp.add(low, high))
    downwards = jnp.where(endless_above, 0.0, jnp.subtract(high, 1))
    upwards = jnp.where(endless_above, jnp.add(low, 1), between)
    return jnp.where(endless_below, downwards, upwards)


class Distribution:
    """A distribution, whose functions are attributes (`norm.pdf`).

    Args:
        name: its name.
        parameters: the names of its parameters, without location and scale.
        offers: the names of its functions.
        formulas: of some functions, by name: of the argument in standard place and scale, and the
            parameters. The others follow from these.
        support: the least and the largest value; numbers, or functions of the parameters.
        discrete: True if the values are integers.
        located: True if there are the arguments `loc` and `scale` (not if discrete).
        first: the name of the argument, by function, where it is not x, k or q.
        unmoved: functions that do not take `loc` and `scale`.
        valid: for which parameters there is such a distribution; for others, and for scales
            that are not positive, all is nan.
        further: functions that are given themselves, not by formulas.
    """

    def __init__(
        self,
        name: str,
        parameters: Sequence[str],
        offers: str,
        formulas: dict[str, Formula],
        support: tuple[Bound, Bound] = (-np.inf, np.inf),
        discrete: bool = False,
        located: bool = True,
        first: dict[str, str] | None = None,
        unmoved: str = "",
        valid: Callable[..., Array] | None = None,
        further: dict[str, Callable[..., Array]] | None = None,
    ) -> None:
        self.__name__ = name
        self._parameters = tuple(parameters)
        self._formulas = formulas
        self._support = support
        self._discrete = discrete
        self._located = located
        self._unmoved = unmoved.split()
        self._valid = valid
        for offered in offers.split():
            self._offer(offered, (first or {}).get(offered))
        for offered, function in (further or {}).items():
            setattr(self, offered, replayed(function))

    def __repr__(self) -> str:
        return f"<distribution irax.scipy.stats.{self.__name__}>"

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"irax.scipy.stats.{self.__name__} has no function {name!r}")

    def _offer(self, name: str, first: str | None) -> None:
        first = first or ("q" if name in ("ppf", "isf") else "k" if self._discrete else "x")
        defaults = {"loc": 0} | ({} if self._discrete else {"scale": 1})
        defaults = defaults if self._located and name not in self._unmoved else {}
        kind = Parameter.POSITIONAL_OR_KEYWORD
        required = [Parameter(p, kind) for p in (first, *self._parameters)]
        optional = [Parameter(p, kind, default=value) for p, value in defaults.items()]
        signature = Signature([*required, *optional])
        what = f"{self.__name__}.{name}"

        def function(*args: Any, **options: Any) -> Array:
            try:
                bound = signature.bind(*args, **options)
            except TypeError as error:
                raise TypeError(f"{what}{signature}: {error}") from None
            bound.apply_defaults()
            for parameter, x in bound.arguments.items():
                if isinstance(x, _NO_NUMBERS):
                    as_array(x, f"{what}: {parameter}")  # which raises an error
            return self._at(what, name, *bound.args)

        doc = _TEXTS[name].format(x=first)
        function.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]
        setattr(self, name, replayed(documented(function, name, doc, "irax.scipy.stats")))

    def _at(self, what: str, name: str, *operands: Any) -> Array:
        x, *others = floats(what, *operands)
        count = len(self._parameters)
        parameters, moved = others[:count], others[count:]
        place = moved[0] if moved else None
        scale = moved[1] if len(moved) > 1 else None
        if name in ("ppf", "isf"):
            found = self._where_valid(self._quantile(name, x, parameters), parameters, scale)
            found = found if scale is None else jnp.multiply(found, scale)
            return _like(x, found if place is None else jnp.add(found, place))
        x = x if place is None else jnp.subtract(x, place)
        x = x if scale is None else jnp.divide(x, scale)
        base = _LOGARITHMS.get(name, name)
        found = self._inside(base, x, parameters)
        if base == "logpdf" and scale is not None:
            found = jnp.subtract(found, jnp.log(scale))
        found = self._where_valid(found, parameters, scale)
        return _like(x, jnp.exp(found) if base != name else found)

    def _where_valid(self, found: Array, parameters: Sequence[Array], scale: Array | None) -> Array:
        """Return nan where there is no such distribution."""
        if scale is not None:
            found = jnp.where(jnp.greater(scale, 0), found, np.nan)
        if self._valid is None:
            return found
        return jnp.where(self._valid(*parameters), found, np.nan)

    def _inside(self, name: str, x: Array, parameters: Sequence[Array]) -> Array:
        low, high = (b(*parameters) if callable(b) else b for b in self._support)
        if self._discrete and name == "cdf":
            x = jnp.floor(x)
        # There is nothing at infinity, and nothing beyond.
        below = jnp.logical_or(jnp.less(x, low), jnp.equal(x, -np.inf))
        above = jnp.logical_or(jnp.greater(x, high), jnp.equal(x, np.inf))
        unknown = jnp.isnan(x)
        outside = jnp.logical_or(jnp.logical_or(below, above), unknown)
        middle = 0.0 if self._support == (-np.inf, np.inf) else _middle(low, high)
        if self._discrete:
            middle = low
            if name == "logpmf":
                broken = jnp.not_equal(jnp.subtract(x, jnp.floor(x)), 0)  # also infinity
                outside, below = jnp.logical_or(outside, broken), jnp.logical_or(below, broken)
        value = self._standard(name, jnp.where(outside, middle, x), parameters)
        least, largest = _OUTSIDE[name]
        value = jnp.where(outside, jnp.where(below, least, largest), value)
        return jnp.where(unknown, np.nan, value)

    def _standard(self, name: str, x: Array, parameters: Sequence[Array]) -> Array:
        """Return a function by its formula, or by that of another one."""
        if name in self._formulas:
            return self._formulas[name](x, *parameters)
        if name in _OF_SHARES:
            names = ("cdf", "sf") if name == "logcdf" else ("sf", "cdf")
            return log_of_share(*(self._standard(n, x, parameters) for n in names))
        assert name == "sf"
        return jnp.subtract(1, self._standard("cdf", x, parameters))

    def _quantile(self, name: str, q: Array, parameters: Sequence[Array]) -> Array:
        likely = jnp.logical_and(jnp.greater_equal(q, 0), jnp.less_equal(q, 1))
        safe = jnp.where(likely, q, 0.5)
        return jnp.where(likely, self._formulas[name](safe, *parameters), np.nan)
