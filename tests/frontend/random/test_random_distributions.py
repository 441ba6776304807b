"""Distributions: what their numbers are distributed like, and derivatives in their parameters."""

import importlib.util
import inspect

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import random

HAS_JAX = importlib.util.find_spec("jax") is not None
stats = pytest.importorskip("scipy.stats", reason="SciPy, the reference, is not installed")
COUNT = 4000

CONTINUOUS = {
    "uniform": (lambda k, n: random.uniform(k, n, minval=-1, maxval=2), stats.uniform(-1, 3)),
    "normal": (random.normal, stats.norm()),
    "truncated_normal": (
        lambda k, n: random.truncated_normal(k, -1.0, 2.0, n),
        stats.truncnorm(-1, 2),
    ),
    "cauchy": (random.cauchy, stats.cauchy()),
    "exponential": (random.exponential, stats.expon()),
    "gumbel": (random.gumbel, stats.gumbel_r()),
    "gumbel high": (lambda k, n: random.gumbel(k, n, mode="high"), stats.gumbel_r()),
    "gumbel highest": (lambda k, n: random.gumbel(k, n, mode="highest"), stats.gumbel_r()),
    "laplace": (random.laplace, stats.laplace()),
    "logistic": (random.logistic, stats.logistic()),
    "lognormal": (lambda k, n: random.lognormal(k, 0.7, n), stats.lognorm(0.7)),
    "maxwell": (random.maxwell, stats.maxwell()),
    "pareto": (lambda k, n: random.pareto(k, 2.5, n), stats.pareto(2.5)),
    "rayleigh": (lambda k, n: random.rayleigh(k, 1.5, n), stats.rayleigh(scale=1.5)),
    "triangular": (
        lambda k, n: random.triangular(k, -1.0, 0.5, 3.0, n),
        stats.triang(0.375, -1, 4),
    ),
    "weibull_min": (
        lambda k, n: random.weibull_min(k, 2.0, 1.7, n),
        stats.weibull_min(1.7, scale=2),
    ),
    "wald": (lambda k, n: random.wald(k, 2.0, n), stats.invgauss(2.0)),
    "wald of a large mean": (lambda k, n: random.wald(k, 1e4, n), stats.invgauss(1e4)),
    "gamma": (lambda k, n: random.gamma(k, 2.5, n), stats.gamma(2.5)),
    "gamma below 1": (lambda k, n: random.gamma(k, 0.3, n), stats.gamma(0.3)),
    "loggamma": (lambda k, n: random.loggamma(k, 0.5, n), stats.loggamma(0.5)),
    "beta": (lambda k, n: random.beta(k, 0.7, 2.0, n), stats.beta(0.7, 2)),
    "chisquare": (lambda k, n: random.chisquare(k, 3.0, n), stats.chi2(3)),
    "f": (lambda k, n: random.f(k, 3.0, 7.0, n), stats.f(3, 7)),
    "t": (lambda k, n: random.t(k, 3.0, n), stats.t(3)),
    "generalized_normal": (
        lambda k, n: random.generalized_normal(k, 4.0, n),
        stats.gennorm(4),
    ),
    "dirichlet": (
        lambda k, n: random.dirichlet(k, np.array([1.0, 2, 3], "f"), n)[..., 0],
        stats.beta(1, 5),
    ),
    "ball": (lambda k, n: jnp.linalg.norm(random.ball(k, 3, shape=n), axis=-1), stats.beta(3, 1)),
    "multivariate_normal": (
        lambda k, n: random.multivariate_normal(k, np.ones(2), [[4, 1], [1, 2]] @ np.eye(2), n)[
            :, 0
        ],
        stats.norm(1, 2),
    ),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name):
    draw, distribution = CONTINUOUS[name]
    numbers = np.asarray(draw(random.key(5), (COUNT,))).astype(np.float64)
    assert stats.kstest(numbers, distribution.cdf).pvalue > 1e-3


@pytest.mark.skipif(not HAS_JAX, reason="JAX, the oracle, is not installed")
def test_of_a_thousand_gamma_numbers_all_are_those_of_jax():
    """One in fifty takes the second test of the rejection, which few numbers do not show."""
    import jax

    draw = lambda m: m.random.gamma(m.random.key(7), 1.0, (1000,))
    np.testing.assert_allclose(draw(irax), draw(jax), rtol=2e-4)


DISCRETE = {
    "poisson": (lambda k, n: random.poisson(k, 3.0, n), stats.poisson(3)),
    "poisson of a large mean": (lambda k, n: random.poisson(k, 40.0, n), stats.poisson(40)),
    "binomial": (lambda k, n: random.binomial(k, 20, 0.2, n), stats.binom(20, 0.2)),
    "binomial, rejection": (lambda k, n: random.binomial(k, 100, 0.6, n), stats.binom(100, 0.6)),
    "geometric": (lambda k, n: random.geometric(k, 0.3, n), stats.geom(0.3)),
    "bernoulli": (lambda k, n: random.bernoulli(k, 0.3, n), stats.bernoulli(0.3)),
    "bernoulli high": (lambda k, n: random.bernoulli(k, 0.3, n, "high"), stats.bernoulli(0.3)),
    "randint": (lambda k, n: random.randint(k, n, -2, 5), stats.randint(-2, 5)),
    "choice": (
        lambda k, n: random.choice(k, 3, n, p=np.array([0.5, 0.2, 0.3])),
        stats.rv_discrete(values=([0, 1, 2], [0.5, 0.2, 0.3])),
    ),
    "categorical": (
        lambda k, n: random.categorical(k, np.log(np.array([0.5, 0.2, 0.3], "f")), shape=n),
        stats.rv_discrete(values=([0, 1, 2], [0.5, 0.2, 0.3])),
    ),
    "multinomial": (
        lambda k, n: random.multinomial(k, 9, np.array([0.5, 0.2, 0.3], "f"), shape=n)[..., 1],
        stats.binom(9, 0.2),
    ),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name):
    draw, distribution = DISCRETE[name]
    numbers = np.asarray(draw(random.key(6), (COUNT,))).astype(np.int64)
    values, found = np.unique(numbers, return_counts=True)
    expected = COUNT * distribution.pmf(values)
    common = expected >= 5
    found = np.append(found[common], COUNT - found[common].sum())
    expected = np.append(expected[common], COUNT - expected[common].sum())
    if expected[-1] < 1e-6:
        assert found[-1] == 0
        found, expected = found[:-1], expected[:-1]
    assert stats.chisquare(found, expected, sum_check=False).pvalue > 1e-3


def test_without_replacement():
    p = np.array([0.1, 0.2, 0.3, 0.4], np.float32)
    for draw in (
        lambda k: random.choice(k, 4, (4,), False, p),
        lambda k: random.choice(k, 4, (4,), False),
        lambda k: random.categorical(k, np.log(p), shape=(4,), replace=False),
    ):
        np.testing.assert_array_equal(np.sort(draw(random.key(2))), np.arange(4))


def test_orthogonal():
    for dtype in ("float32", "complex64"):
        q = np.asarray(random.orthogonal(random.key(0), 4, (3,), dtype, m=2))
        assert q.dtype == dtype
        products = np.swapaxes(q.conj(), -1, -2) @ q
        np.testing.assert_allclose(products, np.broadcast_to(np.eye(2), (3, 2, 2)), atol=1e-5)


def test_covariance():
    cov = np.array([[2.0, 0.5], [0.5, 1.0]], np.float32)
    for method in ("cholesky", "eigh", "svd"):
        x = random.multivariate_normal(
            random.key(0), np.zeros(2, "f"), cov, (20_000,), None, method
        )
        np.testing.assert_allclose(np.cov(np.asarray(x).T), cov, atol=0.06)


# ---- derivatives ---------------------------------------------------------------------------------


@pytest.mark.parametrize("a", [0.01, 0.4, 3.0, 80.0])
def test_derivative_of_loggamma(a):
    """The derivative keeps the value of the cumulative distribution at the number."""
    logs = np.asarray(random.loggamma(random.key(1), np.full(6, a, "f"))).astype(np.float64)
    found = irax.grad(lambda a: random.loggamma(random.key(1), a, (6,)).sum())(a)
    h = 1e-5 * a
    at = np.exp(logs)
    moved = [np.log(stats.gamma(b).ppf(stats.gamma(a).cdf(at))) for b in (a - h, a + h)]
    slopes = (moved[1] - moved[0]) / (2 * h)
    small = at < 1e-30  # where SciPy has no digits: x**a / gamma(a + 1) is its distribution
    slopes[small] = ((scipy_digamma(a + 1) - logs) / a)[small]
    np.testing.assert_allclose(found, slopes.sum(), rtol=2e-3)


def scipy_digamma(x):
    from scipy.special import digamma

    return digamma(x)


@pytest.mark.skipif(not HAS_JAX, reason="JAX, the oracle, is not installed")
@pytest.mark.parametrize(
    "draw",
    [
        lambda r, k, x: r.gamma(k, x, (5,)),
        lambda r, k, x: r.beta(k, x, 2.0, (5,)),
        lambda r, k, x: r.t(k, x, (5,)),
        lambda r, k, x: r.dirichlet(k, x * np.array([1, 2, 3], "f"))[0],
        lambda r, k, x: r.triangular(k, -x, 0.1, 2 * x, (5,)),
        lambda r, k, x: r.wald(k, x, (5,)),
        lambda r, k, x: r.truncated_normal(k, -x, x, (5,)),
        lambda r, k, x: r.weibull_min(k, x, x, (5,)),
    ],
    ids=[
        "gamma",
        "beta",
        "t",
        "dirichlet",
        "triangular",
        "wald",
        "truncated_normal",
        "weibull_min",
    ],
)
def test_derivatives_as_jax(draw):
    import jax

    from irax.config import threefry_partitionable

    expected = jax.grad(lambda x: draw(jax.random, jax.random.key(8), x).sum())(1.3)
    with threefry_partitionable(True):
        found = irax.grad(lambda x: draw(random, random.key(8), x).sum())(1.3)
    np.testing.assert_allclose(found, expected, rtol=2e-3)


def test_derivatives_at_corners_are_finite():
    key = random.key(0)
    for mode in (0.0, 1.0, 3.0):
        draw = lambda m: random.triangular(key, 0.0, m, 3.0, (50,)).sum()
        assert np.isfinite(irax.grad(draw)(mode))
    for draw in (random.loggamma, random.gamma):
        assert np.isfinite(irax.grad(lambda a, d=draw: d(key, a, (20,)).sum())(1e-3))
    assert np.isfinite(irax.grad(lambda m: random.wald(key, m, (50,)).sum())(1e5))


# ---- the namespace -------------------------------------------------------------------------------


@pytest.mark.skipif(not HAS_JAX, reason="JAX, the oracle, is not installed")
def test_signatures_are_those_of_jax():
    import jax

    for name in dir(jax.random):
        theirs = getattr(jax.random, name)
        if name.startswith("_") or not inspect.isfunction(inspect.unwrap(theirs)):
            continue
        ours = inspect.signature(getattr(random, name))
        assert list(ours.parameters) == list(inspect.signature(theirs).parameters), name


@pytest.mark.slow
def test_compiled_draws():
    def draw(key):
        k1, k2, k3 = random.split(key, 3)
        return random.gamma(k1, np.array([0.3, 4.0], "f")), random.poisson(k2, 5.0, (3,)), k3

    key = random.key(9)
    now, compiled = draw(key), irax.jit(draw)(key)
    np.testing.assert_allclose(now[0], compiled[0], rtol=1e-4)
    np.testing.assert_array_equal(now[1], compiled[1])
    assert bool(now[2] == compiled[2])


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda k: random.gamma(k, np.ones(3), (2,)), ValueError, "broadcast to the shape"),
        (lambda k: random.beta(k, 1.0, np.ones(2, "f"), dtype="float16"), ValueError, "fit"),
        (lambda k: random.bernoulli(k, mode="x"), ValueError, "mode must be"),
        (lambda k: random.gumbel(k, mode="x"), ValueError, "mode must be"),
        (lambda k: random.dirichlet(k, 1.0), ValueError, "a vector"),
        (lambda k: random.multivariate_normal(k, np.ones(2), np.ones((3, 3))), ValueError, "cov"),
        (
            lambda k: random.multivariate_normal(k, np.ones(1), np.ones((1, 1)), method="x"),
            ValueError,
            "method",
        ),
        (lambda k: random.choice(k, 3, (2,), p=np.ones(2)), ValueError, "each of 3"),
        (lambda k: random.choice(k, 0, (2,)), ValueError, "have elements"),
        (
            lambda k: random.categorical(k, np.zeros(2), shape=(3,), replace=False),
            ValueError,
            "3 of 2",
        ),
        (lambda k: random.poisson(k, 1.0, dtype=float), ValueError, "an integer"),
        (lambda k: random.multinomial(k, 2, 0.5), ValueError, "a vector"),
        (lambda k: random.key(0, impl="x"), ValueError, "no generator 'x'"),
        (lambda k: random.wrap_key_data(np.zeros(3, "uint32")), TypeError, "expected a key"),
        (lambda k: np.asarray(k), TypeError, "key_data"),
        (lambda k: hash(k), TypeError, "unhashable"),
        (lambda k: random.orthogonal(k, 2.5), TypeError, "integer"),
    ],
)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call(random.key(0))


def test_arrays_of_keys():
    keys = random.split(random.key(0), (2, 3))
    data = np.asarray(random.key_data(keys))
    assert (keys.shape, keys.ndim, keys.size, len(keys)) == ((2, 3), 2, 6, 2)
    assert str(keys.dtype) == "key<fry>"
    assert irax.dtypes.issubdtype(keys.dtype, irax.dtypes.prng_key)
    assert not irax.dtypes.issubdtype(np.uint32, irax.dtypes.prng_key)
    for found, expected in {
        "reshape": (keys.reshape(3, -1), data.reshape(3, 2, 2)),
        "ravel": (keys.ravel(), data.reshape(6, 2)),
        "T": (keys.T, data.transpose(1, 0, 2)),
        "index": (keys[..., 1], data[:, 1]),
        "squeeze": (keys[:1].squeeze(), data[0]),
    }.values():
        np.testing.assert_array_equal(random.key_data(found), expected)
    np.testing.assert_array_equal(keys == keys[0], [[True] * 3, [False] * 3])
    np.testing.assert_array_equal(keys != keys[0], [[False] * 3, [True] * 3])
    drawn = irax.vmap(irax.vmap(lambda k: random.gamma(k, 2.0)))(keys)
    assert drawn[1, 2] == random.gamma(keys[1, 2], 2.0)


BROADCAST = {
    "uniform": lambda k: random.uniform(k, (3, 2), minval=jnp.zeros(2), maxval=jnp.ones((3, 1))),
    "randint": lambda k: random.randint(k, (3, 2), jnp.zeros(2, int), jnp.full((3, 1), 5)),
    "bernoulli": lambda k: random.bernoulli(k, jnp.ones(2) / 2, (3, 2)),
    "truncated_normal": lambda k: random.truncated_normal(k, -jnp.ones(2), 1.0, (3, 2)),
    "generalized_normal": lambda k: random.generalized_normal(k, jnp.array([1.0, 2.0]), (3, 2)),
    "weibull_min": lambda k: random.weibull_min(k, jnp.ones(2), jnp.ones((3, 1)), (3, 2)),
    "triangular": lambda k: random.triangular(k, 0.0, jnp.ones(2) / 2, 1.0, (3, 2)),
    "geometric": lambda k: random.geometric(k, jnp.ones(2) / 2, (3, 2)),
    "rayleigh": lambda k: random.rayleigh(k, jnp.ones(2), (3, 2)),
    "wald": lambda k: random.wald(k, jnp.ones(2), (3, 2)),
}


@pytest.mark.parametrize("name", BROADCAST)
def test_parameters_broadcast_against_the_shape(name):
    found = np.asarray(BROADCAST[name](random.key(0)))
    assert found.shape == (3, 2)
    assert np.isfinite(found).all()


def test_parameters_of_other_ranks_under_the_strict_option():
    with irax.numpy_rank_promotion("raise"):
        found = random.dirichlet(random.key(0), jnp.ones(3), (5,))
    np.testing.assert_allclose(np.sum(found, -1), 1, rtol=1e-5)
