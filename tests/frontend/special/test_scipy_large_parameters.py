"""Log-densities where their terms are millions and the result is small, against mpmath."""

import mpmath
import numpy as np
import pytest

import irax
import irax.scipy.stats as stats

mpmath = mpmath.mp.clone()
mpmath.dps = 35
log, log1p, lgamma = mpmath.log, mpmath.log1p, mpmath.loggamma


def choices(n, k):
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def log_beta(a, b):
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def t(x, df):
    scale = lgamma((df + 1) / 2) - lgamma(df / 2) - log(df * mpmath.pi) / 2
    return scale - (df + 1) / 2 * log1p(x * x / df)


def gamma(x, a):
    return (a - 1) * log(x) - x - lgamma(a)


def beta(x, a, b):
    return (a - 1) * log(x) + (b - 1) * log1p(-x) - log_beta(a, b)


EXACT = {
    "beta": beta,
    "betabinom": lambda k, n, a, b: choices(n, k) + log_beta(k + a, n - k + b) - log_beta(a, b),
    "binom": lambda k, n, p: choices(n, k) + k * log(p) + (n - k) * log1p(-p),
    "cauchy": lambda x: -log(mpmath.pi) - log1p(x * x),
    "chi2": lambda x, df: gamma(x / 2, df / 2) - log(2),
    "gamma": gamma,
    "laplace": lambda x: -log(2) - abs(x),
    "nbinom": lambda k, n, p: (
        lgamma(k + n) - lgamma(n) - lgamma(k + 1) + n * log(p) + k * log1p(-p)
    ),
    "pareto": lambda x, b: log(b) - (b + 1) * log(x),
    "poisson": lambda k, mu: k * log(mu) - mu - lgamma(k + 1),
    "t": t,
    "vonmises": lambda x, k: k * mpmath.cos(x) - log(2 * mpmath.pi * mpmath.besseli(0, k)),
    "wrapcauchy": lambda x, c: (
        log1p(-c * c) - log(2 * mpmath.pi) - log(1 + c * c - 2 * c * mpmath.cos(x))
    ),
}
SIZES = (3.0, 30.0, 1e3, 1e5, 1e7)
AWAY = (-3.0, -0.5, 0.0, 1.0, 4.0)  # from the mean, in deviations


def near(mean, deviation):
    return [mean + away * deviation for away in AWAY]


def counts(mean, deviation):
    return [max(0.0, float(round(x))) for x in near(mean, deviation)]


def points(name):
    if name == "t":
        return [(x, df) for df in (*SIZES, 1e15) for x in (0.0, 0.5, -3.0, 40.0, 1e6)]
    if name in ("cauchy", "laplace"):
        return [(x,) for x in (0.0, 1e-5, 2.0, 3e4, -1e10, 1e30)]
    if name in ("gamma", "chi2"):
        twice = 2 if name == "chi2" else 1
        return [(max(x, 0.01), a) for a in SIZES for x in near(a, (twice * a) ** 0.5)]
    if name == "poisson":
        return [(x, a) for a in SIZES for x in counts(a, a**0.5)]
    if name == "pareto":
        return [(1 + x / b, b) for b in SIZES for x in (0.0, 0.5, 20.0)]
    if name == "vonmises":
        return [(x, k) for k in (1e-5, 0.5, *SIZES[:-1]) for x in (0.0, k**-0.5, 0.5, 3.0)]
    if name == "wrapcauchy":
        return [(x, c) for c in (0.01, 0.5, 0.999, 0.999999) for x in (0.0, 1e-4, 0.5, 3.0)]
    if name == "beta":
        pairs = [(a, b) for a in (0.5, *SIZES) for b in (0.5, 1.0, *SIZES)]
        return [
            (min(max(x, 1e-6), 1 - 1e-6), a, b)
            for a, b in pairs
            for x in near(a / (a + b), (a * b / (a + b + 1)) ** 0.5 / (a + b))
        ]
    chances = (1e-5, 0.3, 0.5, 0.999)
    if name == "binom":
        return [
            (min(k, n), n, p)
            for n in (*SIZES, 16777216.0)
            for p in chances
            for k in counts(n * p, (n * p * (1 - p)) ** 0.5)
        ]
    if name == "nbinom":
        return [
            (min(k, 1.6e7), n, p)
            for n in (0.01, 0.5, *SIZES)
            for p in chances
            for k in counts(n * (1 - p) / p, (n * (1 - p)) ** 0.5 / p)
        ]
    assert name == "betabinom"
    found = []
    for n in SIZES:
        for a, b in ((0.5, 2.0), (1e7, 1e7), (3.0, 1e7), (1e5, 1e3), (1e-3, 1e7)):
            p = a / (a + b)
            deviation = (n * p * (1 - p) * (a + b + n) / (a + b + 1)) ** 0.5
            found += [(min(k, n), n, a, b) for k in counts(n * p, deviation)]
    return found


def exact_and_allowed(name, row, eps):
    """A log-density, and its change where each argument is rounded, with rounding of its own."""
    function, row = EXACT[name], [mpmath.mpf(x) for x in row]
    expected = function(*row)
    allowed = 32 * eps * (1 + abs(expected))
    for i, x in enumerate(row):
        moved = [*row[:i], x * (1 - eps), *row[i + 1 :]]
        allowed += 2 * abs(function(*moved) - expected)
    return float(expected), float(allowed)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("name", EXACT)
def test_values(name, kind, every):
    rows = np.array(points(name)[::every]).astype(kind)
    eps = float(np.finfo(kind).eps)
    wide = rows.astype(float).tolist()
    expected, allowed = np.array([exact_and_allowed(name, row, eps) for row in wide]).T
    ours = getattr(stats, name)
    function = ours.logpmf if hasattr(ours, "logpmf") else ours.logpdf
    with irax.enable_x64(kind == "f8"):
        found = [function(*rows.T)]
        if kind == "f4":
            found.append(irax.jit(function)(*rows.T))
    for values in found:
        assert values.dtype == kind
        wrong = np.flatnonzero(~(np.abs(np.asarray(values, float) - expected) <= allowed))
        assert not wrong.size, [(rows[i], values[i], expected[i]) for i in wrong]


def test_vectors():
    with irax.enable_x64(True):
        counts, p = np.array([3e6, 3e6 + 500, 4e6 - 500]), np.array([0.3, 0.3, 0.4])
        found = stats.multinomial.logpmf(counts, 1e7, p)
        np.testing.assert_allclose(found, exact_multinomial(counts, p), rtol=1e-12)
        alpha = np.array([3e6, 3e6, 4e6])
        shares = np.array([0.3, 0.3001, 0.3999])
        np.testing.assert_allclose(
            stats.dirichlet.logpdf(shares, alpha), exact_dirichlet(shares, alpha), rtol=1e-9
        )
        np.testing.assert_allclose(stats.dirichlet.logpdf(p, np.ones(3)), np.log(2), rtol=1e-14)


def exact_multinomial(counts, p):
    total = lgamma(mpmath.mpf(1e7) + 1)
    for k, chance in zip(counts, p, strict=True):
        total += k * log(mpmath.mpf(chance)) - lgamma(mpmath.mpf(k) + 1)
    return float(total)


def exact_dirichlet(shares, alpha):
    total = lgamma(mpmath.fsum(alpha))
    for a, share in zip(alpha, shares, strict=True):
        total += (a - 1) * log(mpmath.mpf(share)) - lgamma(mpmath.mpf(a))
    return float(total)


def test_derivatives_in_parameters():
    with irax.enable_x64(True):
        for name, row in (
            ("binom", (5e6 + 2000, 1e7, 0.5)),
            ("nbinom", (1e7 - 3000, 1e7, 0.5)),
            ("betabinom", (5e3, 1e4, 1e7, 1.1e7)),
            ("t", (0.5, 1e7)),
            ("beta", (0.5001, 1e7, 1e7)),
        ):
            ours = getattr(stats, name)
            function = getattr(ours, "logpmf", None) or ours.logpdf
            for i in range(1, len(row)):
                exact = mpmath.diff(EXACT[name], [mpmath.mpf(x) for x in row], unit(i, len(row)))
                found = irax.grad(function, i)(*row)
                np.testing.assert_allclose(found, float(exact), rtol=1e-7, atol=1e-14)


def unit(i, count):
    return tuple(int(j == i) for j in range(count))
