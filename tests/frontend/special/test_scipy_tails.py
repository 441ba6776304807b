"""Tails of distributions, which underflow or cancel, against mpmath."""

import mpmath
import numpy as np
import pytest

import irax
import irax.scipy.stats as stats

mp = mpmath.mp.clone()
mp.dps = 80


def below(x, a):
    return mp.log(mp.gammainc(a, 0, x, regularized=True))


def above(x, a):
    return mp.log(mp.gammainc(a, x, regularized=True))


def beta_below(x, a, b):
    powers = a * mp.log(x) + b * mp.log1p(-x) - mp.log(a) - mp.log(mp.beta(a, b))
    return powers + mp.log(mp.hyp2f1(a + b, 1, a + 1, x))


ROWS = {
    ("gamma", "logsf", above): [
        *((1e4, 2), (1e3, 0.5), (200, 20), (2e3, 1e3), (1.5e4, 1e4), (1.02e6, 1e6), (90, 1e-3)),
        *((95, 1), (1e5, 3e4), (2, 3), (0.001, 3)),
    ],
    ("gamma", "logcdf", below): [
        *((1e-20, 3), (1e-3, 30), (0.5, 100), (500, 1e3), (9e3, 1e4), (0.96e6, 1e6), (1e-30, 1)),
        *((5, 50), (9, 3), (40, 2)),
    ],
    ("chi2", "logsf", lambda x, df: above(x / 2, df / 2)): [(1e4, 3), (500, 20), (2, 1)],
    ("chi2", "logcdf", lambda x, df: below(x / 2, df / 2)): [(1e-20, 9), (1, 300), (5, 1)],
    ("beta", "logcdf", beta_below): [
        *((1e-30, 2, 3), (1e-10, 5, 1e3), (0.5, 1e4, 1), (0.4, 1e4, 1e4), (0.999, 1e6, 0.5)),
        *((0.1, 300, 30), (1e-4, 200, 1e4), (1e-36, 1.5, 0.5), (0.3, 2, 3), (0.9, 2, 30)),
    ],
    ("beta", "logsf", lambda x, a, b: beta_below(1 - x, b, a)): [
        *((0.9, 2, 300), (0.6, 1e4, 1e4), (0.3, 3, 1e3), (0.2, 2, 3), (1e-3, 3, 4)),
    ],
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("name, function, exact", ROWS)
def test_values_and_derivatives(name, function, exact, kind):
    rows = np.array(ROWS[name, function, exact], kind)
    wide = [[mp.mpf(x) for x in row] for row in rows.astype(float).tolist()]
    expected = [float(exact(*row)) for row in wide]
    ours = getattr(getattr(stats, name), function)
    # Of float32, the last bit of x moves the logarithm by as much.
    rtol, atol = (1e-5, 1e-5) if kind == "f4" else (1e-12, 1e-14)
    with irax.enable_x64(kind == "f8"):
        found = ours(*rows.T)
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)
        np.testing.assert_allclose(irax.jit(ours)(*rows.T), expected, rtol=rtol, atol=atol)
        if kind == "f8":
            slopes = irax.grad(lambda *xs: ours(*xs).sum())(*rows.T)
            steps = [row[0] * mp.mpf("1e-12") for row in wide]
            ends = [
                float((exact(row[0] + h, *row[1:]) - exact(row[0] - h, *row[1:])) / (2 * h))
                for row, h in zip(wide, steps, strict=True)
            ]
            np.testing.assert_allclose(slopes, ends, rtol=1e-8)
            if name != "beta":  # which has no derivatives in parameters
                assert np.isfinite(irax.grad(lambda *xs: ours(*xs).sum(), 1)(*rows.T)).all()


def test_small_floats():
    assert stats.gamma.logsf(np.float16(50), np.float16(2)).dtype == np.float16
    np.testing.assert_allclose(stats.gamma.logsf(np.float16(50), np.float16(2)), -46.07, rtol=1e-3)


def test_logarithms_of_probabilities_next_to_1():
    np.testing.assert_allclose(stats.cauchy.logcdf(np.float32(1e9)), -1 / (np.pi * 1e9), rtol=1e-6)
    np.testing.assert_allclose(stats.gamma.logcdf(np.float32(30), 1.0), -np.exp(-30), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("run", [lambda f: f, irax.jit])
def test_far_tails_of_gumbel_and_gennorm(run):
    z = np.array([5, 30, 60, 100, 1e4], np.float32)
    expected = [float(mp.log(-mp.expm1(-mp.exp(-mp.mpf(v))))) for v in (5, 30, 60)]
    expected += [-100, -1e4]
    np.testing.assert_allclose(run(stats.gumbel_r.logsf)(z), expected, rtol=1e-6)
    np.testing.assert_allclose(run(stats.gumbel_l.logcdf)(-z), expected, rtol=1e-6)
    b = np.array([0.5, 2, 100, 1e4, 1e8], np.float32)
    x = np.full(5, -1, np.float32)
    below = [float(mp.gammainc(1 / mp.mpf(v), 1, regularized=True) / 2) for v in b.tolist()]
    np.testing.assert_allclose(run(stats.gennorm.cdf)(x, b), below, rtol=1e-5)
    np.testing.assert_allclose(run(stats.gennorm.cdf)(-x, b), 1 - np.array(below), rtol=1e-6)


def _normal(low, high):
    return mp.ncdf(high) - mp.ncdf(low) if low < 0 else mp.ncdf(-low) - mp.ncdf(-high)


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_truncated_normal_close_to_its_ends(kind):
    """A difference of two probabilities has no digits there, nor has 1 less a small share."""
    rows = [(2**-27, 0, np.inf), (6, 0, np.inf), (2**-21 - 1, -1, 1), (1 - 2**-21, -1, 1)]
    rows += [(5 + 2**-20, 5, 6), (5 + 2**-18, 5, 5 + 2**-16), (0.25, -0.5, 0.5), (-3.5, -4, 9)]
    wide = [[mp.mpf(x) for x in row] for row in rows]
    shares = [[_normal(a, x) / _normal(a, b), _normal(x, b) / _normal(a, b)] for x, a, b in wide]
    logs = [
        [mp.log(p) if p < 0.5 else mp.log1p(-q) for p, q in (pair, pair[::-1])] for pair in shares
    ]
    wanted = np.concatenate([np.array(shares, float), np.array(logs, float)], 1).T
    with irax.enable_x64(kind == "f8"):
        names, arguments = ("cdf", "sf", "logcdf", "logsf"), np.array(rows, kind).T

        def all_of(x, a, b):
            return [getattr(stats.truncnorm, name)(x, a, b) for name in names]

        rtol = 3e-6 if kind == "f4" else 3e-14
        np.testing.assert_allclose(np.array(all_of(*arguments)), wanted, rtol=rtol)
        if kind == "f4":
            compiled = irax.jit(all_of)(*arguments)
            np.testing.assert_allclose(np.array(compiled), wanted, rtol=rtol)
        else:
            slopes = irax.grad(lambda x: stats.truncnorm.cdf(x, *arguments[1:]).sum())(arguments[0])
            densities = [float(mp.npdf(x) / _normal(a, b)) for x, a, b in wide]
            np.testing.assert_allclose(slopes, densities, rtol=1e-12)


def test_beta_above_small_places():
    """1 - x has no digits of a small x, at which the density is large."""
    x, a, b = np.array([1e-16, 1e-16, 1e-300, 0.25]), np.array([0.5, 1e-3, 0.25, 2]), 5.0
    rows = zip(x, a, strict=True)
    below = [mp.betainc(p, b, 0, mp.mpf(float(v)), regularized=True) for v, p in rows]
    with irax.enable_x64(True):
        wanted = np.array([1 - p for p in below], float)
        np.testing.assert_allclose(stats.beta.sf(x, a, b), wanted, rtol=1e-14)
        logs = np.array([mp.log1p(-p) for p in below], float)
        np.testing.assert_allclose(stats.beta.logsf(x, a, b), logs, rtol=1e-13)
