"""Distributions of scipy.stats, compiled and evaluated, on a table of common and extreme points."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import numpy as np
import pytest

import irax
from irax.scipy import stats

POINTS = [0.0, 0.5, 1.0, 2.0, 10.0, 1e5, 1e10, np.inf, np.nan, -0.5, -1.0]
METHODS = ["logpdf", "pdf", "logpmf", "pmf", "logcdf", "cdf", "logsf", "sf", "ppf", "isf"]
DISTRIBUTIONS = [
    name
    for name in dir(stats)
    if any(callable(getattr(getattr(stats, name), m, None)) for m in METHODS)
    and name not in {"dirichlet", "gaussian_kde", "multinomial", "multivariate_normal"}
]


def parameters(method: Any) -> int:
    """The number of arguments without a default."""
    every = inspect.signature(method).parameters.values()
    return sum(p.default is p.empty for p in every)


@pytest.mark.slow
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions(name: str) -> None:
    distribution = getattr(stats, name)
    methods = {m: f for m in METHODS if callable(f := getattr(distribution, m, None))}
    count = max(map(parameters, methods.values()))
    rows = np.array(list(itertools.product(POINTS, repeat=min(count, 3))), np.float32).T
    operands = [*rows, *([np.float32(1)] * (count - 3))]

    def every(*operands: Any) -> dict[str, Any]:
        return {m: f(*operands) for m, f in methods.items()}

    eager, compiled = every(*operands), irax.jit(every)(*operands)
    for method, found in eager.items():
        x, y = np.asarray(found, float), np.asarray(compiled[method], float)
        with np.errstate(invalid="ignore"):
            # The logarithm of a probability near 1 has the digits of the probability.
            least = 2e-7 if method.startswith("log") else 1e-37
            same = (np.abs(x - y) <= 2e-4 * np.abs(x) + least) | (x == y)
        bad = np.flatnonzero(~(same | np.isnan(x) & np.isnan(y)))
        assert not bad.size, (method, [(*rows[:, i], x[i], y[i]) for i in bad[:4]])
