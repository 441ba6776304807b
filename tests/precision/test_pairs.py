"""Double-double arithmetic beside mpmath's, and reports that use it beside those by decimals."""

import mpmath
import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler.precision import pairs, shadow
from irax_compiler.precision.blame import digits
from irax_compiler.precision.wide import Decimals

RNG = np.random.default_rng(0)
ANY, POSITIVE = RNG.normal(size=60) * 3, np.abs(RNG.normal(size=60)) + 1e-3
FUNCTIONS = {
    "add": (pairs.add, lambda x, y: x + y, (ANY, ANY[::-1] * 1e-9)),
    "multiply": (pairs.multiply, lambda x, y: x * y, (ANY, ANY[::-1])),
    "divide": (pairs.divide, lambda x, y: x / y, (ANY, POSITIVE)),
    "sqrt": (pairs.sqrt, mpmath.sqrt, (POSITIVE,)),
    "exp": (pairs.exp, mpmath.exp, (ANY * 60,)),
    "expm1": (pairs.expm1, mpmath.expm1, (np.append(ANY, ANY * 1e-9),)),
    "log": (pairs.log, mpmath.log, (POSITIVE,)),
    "log1p": (pairs.log1p, mpmath.log1p, (np.append(POSITIVE, ANY * 1e-9),)),
    "sine": (pairs.sine, mpmath.sin, (np.append(ANY * 99, ANY * 1e-9),)),
    "cosine": (lambda x: pairs.sine(x, 1), mpmath.cos, (ANY * 99,)),
    "tanh": (pairs.tanh, mpmath.tanh, (np.append(ANY, ANY * 1e-9),)),
    "logistic": (pairs.logistic, lambda x: 1 / (1 + mpmath.exp(-x)), (ANY * 9,)),
    "power": (pairs.power, lambda x, y: x**y, (POSITIVE, ANY)),
    "cube": (pairs.power, lambda x, y: x**y, (ANY, np.full(60, 3.0))),
    "inverse square": (pairs.power, lambda x, y: x**y, (ANY, np.full(60, -2.0))),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_thirty_digits(name):
    function, exact, arrays = FUNCTIONS[name]
    with np.errstate(all="ignore"):
        high, low = function(*map(pairs.pair, arrays))
    with mpmath.workdps(60):
        for found, rest, *given in zip(high, low, *arrays, strict=True):
            expected = exact(*(mpmath.mpf(float(x)) for x in given))
            apart = mpmath.mpf(float(found)) + mpmath.mpf(float(rest)) - expected
            assert abs(apart) < 1e-29 * abs(expected)


@pytest.mark.parametrize(
    "name", ["sqrt", "exp", "expm1", "log", "log1p", "tanh", "add", "multiply", "divide"]
)
def test_numbers_without_digits_are_numpys(name):
    hard = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e308, -1e308, 5e-324, 1e-300, -2.0, 1.0])
    reference = getattr(np, name)
    given = [hard] if reference.nin == 1 else [x.ravel() for x in np.meshgrid(hard, hard)]
    with np.errstate(all="ignore"):
        high, low = getattr(pairs, name)(*map(pairs.pair, given))
        np.testing.assert_array_almost_equal_nulp(
            *(np.nan_to_num(x) for x in (high, reference(*given))), nulp=2
        )
    assert np.isfinite(low).all()


def chain(x):
    y = jnp.sin(x) * jnp.exp(-x) + jnp.maximum(x, 0.3) ** 3
    y = jnp.where(x > 0.5, jnp.sqrt(jnp.abs(y)), jnp.tanh(y[::-1])) - 1 / (1 + x**2)
    return jnp.log1p(y * y) / jnp.sum(y * y), jnp.cumsum(y)[::7], jnp.max(jnp.sort(y))


def variance(x):
    return jnp.mean(x**2) - jnp.mean(x) ** 2


def products(x):
    a = x[:64].reshape(8, 8)
    return a @ a.T @ jnp.linalg.inv(a + 9 * jnp.eye(8))


def convolved(x):
    return jnp.convolve(x, jnp.arange(1.0, 6.0), "same") - 4 * x


def controlled(x):
    """Comparisons of numbers without dimensions, and integers."""
    y, n = irax.lax.while_loop(
        lambda c: (c[0] @ c[0] > 1) | (c[1] < 3), lambda c: (c[0] * 0.7, c[1] + 1), (x, 0)
    )
    y = irax.lax.cond(y[0] > y[1], jnp.sin, jnp.cos, y)
    whole = jnp.round(y * 100).astype(int)
    return y.at[jnp.array([1, 1, n])].add(0.1) * whole, jnp.max(y)


@pytest.mark.parametrize("f", [chain, variance, products, convolved, controlled])
def test_digits_of_large_arrays_are_those_beside_decimal_numbers(f):
    x = np.random.default_rng(1).normal(size=100) + 1e3 * (f is variance)
    with irax.enable_x64():
        ir = irax.make_ir(f)(x)
    given = (ir.module, ir.func, [x])
    runs = shadow.run(*given), shadow.run(*given, Decimals())
    assert isinstance(runs[0].arithmetic, pairs.Pairs)
    assert len(runs[0].events) == len(runs[1].events)
    assert not (set(runs[0].unknown) | set(runs[1].unknown)) - {"stablehlo.lu", "irax.solve"}
    for mine, exact in zip(runs[0].results, runs[1].results, strict=True):
        assert isinstance(mine, shadow.Both)
        assert isinstance(exact, shadow.Both)
        both = []
        for run, result in zip(runs, (mine, exact), strict=True):
            with run.arithmetic.context(), np.errstate(all="ignore"):
                both.append(digits(run, result))
        np.testing.assert_allclose(*both, atol=1e-6)


def test_lines_of_large_arrays():
    x = np.random.default_rng(1).normal(size=1000) + 1e4
    with irax.enable_x64():
        report = irax.precision(variance)(x)
    assert "double-double" in str(report)
    assert not report.holds
    assert "jnp.mean(x**2) - jnp.mean(x) ** 2" in report.lines[0].text
