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
