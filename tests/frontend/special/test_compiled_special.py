"""Special functions, compiled and evaluated, on one table of ordinary and extreme points."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import irax
import irax.scipy.special as special

POINTS = [
    *(
        0.0,
        -0.0,
        1e-30,
        1e-10,
        1e-5,
        0.1,
        0.5,
        0.9,
        1.5,
        2.0,
        2.5,
        3.0,
        5.0,
        10.0,
        20.0,
        50.0,
        88.0,
    ),
    *(100.0, 170.0, 1e3, 1e4, 1e5, 1e8, 1e10, 1e20, 1e30, 3e38, np.inf, -np.inf, np.nan),
    *(-0.5, -1.0, -1.5, -2.5, -10.0, -88.0, -1e3, -1e10, -3e38),
]
OF_ONE = [
    "dawsn",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp1",
    "expi",
    "expit",
    "factorial",
    "gamma",
    "gammaln",
    "gammasgn",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log_ndtr",
    "logit",
    "loggamma",
    "ndtr",
    "ndtri",
    "spence",
    "zeta",
]
OF_MORE = ["beta", "boxcox", "boxcox1p", "expn", "kl_div", "poch", "rel_entr", "xlog1py", "xlogy"]
NAMES = [
    *OF_ONE,
    *("betaln", "gammainc", "gammaincc"),
    *(pytest.param(name, marks=pytest.mark.slow) for name in OF_MORE),
]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", NAMES)
def test_compiled_as_evaluated(name: str) -> None:
    function = getattr(special, name)
    rows = itertools.product(POINTS, repeat=1 if name in OF_ONE else 2)
    operands = np.array(list(rows), np.float32).T
    eager = np.asarray(function(*operands))
    compiled = np.asarray(irax.jit(function)(*operands))
    tiny = np.finfo(np.float32).tiny  # compiled code flushes what is smaller
    with np.errstate(invalid="ignore"):
        near = np.abs(eager.astype(float) - compiled) <= 2e-5 * np.abs(eager) + tiny
    same = near | (eager == compiled) | np.isnan(eager) & np.isnan(compiled)
    bad = [(*operands[:, i].tolist(), eager[i], compiled[i]) for i in np.flatnonzero(~same)]
    assert not bad, bad[:5]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeta_at_poles_and_infinities(dtype: type) -> None:
    s = np.array([1.5, 2, 2.5, 3, 100, np.inf, 1, 0.5, 2, np.nan], dtype)
    q = np.array([0, -0.0, -1, -2, -np.inf, -0.5, 2, 0, np.nan, 0], dtype)
    expected = [np.inf] * 7 + [np.nan] * 3
    with irax.enable_x64(True):
        np.testing.assert_array_equal(special.zeta(s, q), np.array(expected, dtype))
        np.testing.assert_array_equal(irax.jit(special.zeta)(s, q), np.array(expected, dtype))


@pytest.mark.slow
@pytest.mark.parametrize("way", [lambda f: f, irax.jit], ids=["eager", "jit"])
def test_zeta_of_large_arguments(way) -> None:
    s, q = np.array([2, 1.5, 3, 1.5], np.float32), np.array([1e20, 1e30, 1e12, 2e4], np.float32)
    expected = [1e-20, 2e-15, 5e-25, 0.0141423124026]
    np.testing.assert_allclose(way(special.zeta)(s, q), expected, rtol=1e-6)
    n, x = np.array([1, 2, 3]), np.array([1e20, 1e15, 1e10], np.float32)
    found = way(special.polygamma)(n, x)
    np.testing.assert_allclose(found, [1e-20, -1e-30, 2e-30], rtol=1e-6)


@pytest.mark.slow
def test_a_kernel_of_more_arrays_than_the_runtime_binds():
    """The second derivative reads dozens of rows of coefficients, which are parts of one array."""
    with irax.enable_x64(True):
        x = irax.numpy.linspace(0.0, 3.0, 300)
        first = irax.grad(lambda x: special.dawsn(x).sum())
        second = irax.grad(lambda x: first(x).sum())
        np.testing.assert_allclose(irax.jit(second)(x), second(x), rtol=1e-12, atol=1e-13)
