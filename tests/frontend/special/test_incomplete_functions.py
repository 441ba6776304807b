"""The incomplete gamma and beta functions where parameters are large or small."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import irax
import irax.numpy as jnp
import irax.scipy.special as special
import irax.scipy.stats as stats

LOWER = [
    # At x = a, Ramanujan's expansion.
    *(
        (a, a, 0.5 + (1 / 3 + 1 / (540 * a)) / np.sqrt(2 * np.pi * a))
        for a in (1e5, 1e10, 1e15, 1e30, 3e38)
    ),
    # Of moderate parameters, SciPy's values.
    *((a, x, None) for a, x in ((2048, 1920), (1280, 1344), (300, 330), (40, 60), (9984, 9800))),
    *((a, x, None) for a, x in ((2.0, 1e30), (1e-30, 0.5), (2**-10, 2**-13), (0.25, 0.875))),
]
BETA = [
    # In the middle of equal parameters, a half.
    *((a, a, 0.5, 0.5) for a in (1500.0, 1e9, 1e30, 3e38)),
    # Of one far larger parameter, the limit: the gamma function.
    (2.5, 1e30, 2e-30, scipy.special.gammainc(2.5, 2.0)),
    (0.1, 1e30, 0.1, 1.0),
    *((a, b, x, None) for a, b, x in ((12.0, 2.0**-20, 0.5), (2.5, 2.0**-25, 0.8125))),
    *((a, b, x, None) for a, b, x in ((3.0, 4.0, 0.3125), (40.0, 2.0, 0.96875))),
    *((a, b, x, None) for a, b, x in ((1e4, 1e4, 0.505859375), (1500, 3000, 0.3125))),
]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_incomplete_gamma(kind: str) -> None:
    a, x = np.array([row[:2] for row in LOWER], kind).T
    wide = a.astype(float), x.astype(float)
    pairs = zip(LOWER, scipy.special.gammainc(*wide), strict=True)
    lower = np.array([value if row[2] is None else row[2] for row, value in pairs])
    pairs = zip(LOWER, scipy.special.gammaincc(*wide), strict=True)
    upper = np.array([value if row[2] is None else 1 - row[2] for row, value in pairs])
    for function, expected in ((special.gammainc, lower), (special.gammaincc, upper)):
        for run in (function, irax.jit(function)):
            with irax.enable_x64(kind == "f8"):
                found = np.asarray(run(a, x), np.float64)
            np.testing.assert_allclose(found, expected, 4e-6 if kind == "f4" else 1e-12, 1e-37)


def test_far_from_the_mean_of_large_parameters() -> None:
    # As the normal distribution with Edgeworth's first correction; SciPy 1.17 is 10 times off.
    a = np.float32(7.8110715e9)
    x = np.float32(7.8105994e9)
    z = (float(x) - float(a)) / np.sqrt(float(a))
    density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    expected = scipy.special.ndtr(z) - density * (z * z - 1) / (3 * np.sqrt(float(a)))
    for run in (special.gammainc, irax.jit(special.gammainc)):
        np.testing.assert_allclose(float(run(a, x)), expected, 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_incomplete_beta(kind: str) -> None:
    a, b, x = np.array([row[:3] for row in BETA], kind).T
    values = scipy.special.betainc(a.astype(float), b.astype(float), x.astype(float))
    pairs = zip(BETA, values, strict=True)
    expected = [value if row[3] is None else row[3] for row, value in pairs]
    for run in (special.betainc, irax.jit(special.betainc)):
        with irax.enable_x64(kind == "f8"):
            found = np.asarray(run(a, b, x), np.float64)
        np.testing.assert_allclose(found, expected, 4e-6 if kind == "f4" else 1e-11, 1e-37)


@pytest.mark.slow
def test_distributions_of_large_parameters() -> None:
    # Near their medians.
    cases = [
        (stats.chi2.cdf, (2e10, 2e10)),
        (stats.chi2.sf, (2e10, 2e10)),
        (stats.gamma.cdf, (1e10, 1e10)),
        (stats.gamma.sf, (1e10, 1e10)),
        (stats.poisson.cdf, (1e10, 1e10)),
        (stats.beta.cdf, (0.5, 1e9, 1e9)),
        (stats.beta.sf, (0.5, 1e9, 1e9)),
    ]
    numbers = [[jnp.float32(v) for v in args] for _, args in cases]
    results = lambda numbers: [f(*row) for (f, _), row in zip(cases, numbers, strict=True)]
    np.testing.assert_allclose(results(numbers), [0.5] * len(cases), atol=5e-6)
    np.testing.assert_allclose(irax.jit(results)(numbers), [0.5] * len(cases), atol=5e-6)


def test_other_functions_compiled_as_evaluated() -> None:
    x, one = np.float32([1.5, 2.0, 2.5]), np.float32(1.0)
    exp1, hyp1f1, w = irax.jit(
        lambda x, row, z: (special.exp1(x), special.hyp1f1(*row), special.wofz(z))
    )(x, (0 * one, one, np.float32(-88.0)), np.complex64([2.5, 20.0]))
    np.testing.assert_allclose(exp1, scipy.special.exp1(x), 2e-6)
    np.testing.assert_allclose(float(hyp1f1), 1.0, 1e-5)
    w = np.asarray(w)
    np.testing.assert_allclose(w.real, np.exp([-6.25, -400.0]), 1e-6, 1e-37)
