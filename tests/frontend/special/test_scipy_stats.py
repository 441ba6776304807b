"""irax.scipy.stats against SciPy: each function of each distribution, and statistics."""

import inspect

import numpy as np
import pytest
import scipy.stats

import irax
import irax.numpy as jnp
import irax.scipy.stats as stats
from irax.scipy.stats.distribution import Distribution

try:
    import jax.scipy.stats as oracle
except ImportError:
    oracle = None

RNG = np.random.default_rng(0)


def between(low, high):
    return RNG.uniform(low, high, 12)


REAL = np.r_[between(-4, 4)[:10], -9.0, 9.0]
COUNTS = np.r_[RNG.integers(0, 9, 10), -1, 3]

CASES = {  # the argument of densities, and the parameters
    "bernoulli": (np.r_[np.tile([0, 1], 5), -1, 2], (between(0.1, 0.9),)),
    "beta": (np.r_[between(0.05, 0.95)[:10], -1, 2], (between(1, 5), between(1, 5))),
    "betabinom": (COUNTS, (np.full(12, 7), between(1, 5), between(1, 5))),
    "binom": (COUNTS, (np.full(12, 7), between(0.1, 0.9))),
    "cauchy": (REAL, ()),
    "chi2": (REAL**2, (between(1, 9),)),
    "expon": (REAL, ()),
    "gamma": (REAL + 3, (between(1, 5),)),
    "gennorm": (REAL / 2, (between(0.5, 3),)),
    "geom": (COUNTS, (between(0.1, 0.9),)),
    "gumbel_l": (REAL / 3, ()),
    "gumbel_r": (REAL / 3, ()),
    "laplace": (REAL, ()),
    "logistic": (REAL, ()),
    "nbinom": (COUNTS, (between(1, 9), between(0.1, 0.9))),
    "norm": (REAL, ()),
    "pareto": (REAL + 3, (between(1, 5),)),
    "poisson": (COUNTS, (between(0.5, 9),)),
    "t": (REAL, (between(1, 9),)),
    "truncnorm": (REAL, (between(-3, 0), between(0.5, 3))),
    "uniform": (REAL / 3, ()),
    "vonmises": (REAL / 3, (between(0.1, 9),)),
    "wrapcauchy": (np.abs(REAL) / 2, (between(0.1, 0.9),)),
}
SHARES = np.r_[between(0.05, 0.95)[:10], 0.5, 1.5]
FUNCTIONS = [
    (name, function)
    for name in CASES
    for function in ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
    if function in vars(getattr(stats, name))
]


def operands(name: str, function: str) -> list:
    x, parameters = CASES[name]
    x = SHARES if function in ("ppf", "isf") else x
    located = "loc" in inspect.signature(getattr(getattr(stats, name), function)).parameters
    scaled = "scale" in inspect.signature(getattr(getattr(stats, name), function)).parameters
    place = ((1,) if x.dtype.kind == "i" else (0.25,)) if located else ()
    return [x, *parameters, *place, *((1.5,) if scaled else ())]


@pytest.mark.skipif(oracle is None, reason="needs JAX as an oracle")
@pytest.mark.parametrize("name", CASES)
def test_functions_are_those_of_jax(name: str) -> None:
    theirs, ours = getattr(oracle, name), getattr(stats, name)
    for function in (*(f for n, f in FUNCTIONS if n == name), "cdf", "ppf", "isf", "logsf"):
        assert hasattr(theirs, function) == (function in vars(ours)), function
        if hasattr(theirs, function):
            wanted = inspect.signature(getattr(theirs, function)).parameters
            found = inspect.signature(getattr(ours, function)).parameters
            assert [*found] == [*wanted], function


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("name, function", FUNCTIONS)
def test_values(name: str, function: str, kind: str) -> None:
    with irax.enable_x64(kind == "f8"):
        xs = [
            x.astype(kind) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x
            for x in operands(name, function)
        ]
        found = getattr(getattr(stats, name), function)(*xs)
        assert found.dtype == kind
        wide = [np.asarray(x, float) for x in xs]
        with np.errstate(divide="ignore"):
            expected = getattr(getattr(scipy.stats, name), function)(*wide)
        tolerance = 1e-9 if kind == "f8" else 2e-5
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance / 100)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CASES)
def test_derivatives(name: str) -> None:
    function = "logpdf" if "logpdf" in vars(getattr(stats, name)) else "logpmf"
    with irax.enable_x64(True):
        xs = [np.asarray(x, float) for x in operands(name, function)]
        ours, theirs = (getattr(getattr(m, name), function) for m in (stats, scipy.stats))
        count = len(CASES[name][1])
        for i in range(0 if function == "logpdf" else 1, 1 + count):
            if name == "betabinom" and i == 1:
                continue  # the number of trials
            if name == "binom" and i == 1:
                continue
            values = [np.broadcast_to(x, xs[0].shape).copy() for x in xs]
            total = lambda *vs: jnp.sum(jnp.where(jnp.isinf(ours(*vs)), 0, ours(*vs)))
            slope = np.asarray(irax.grad(total, i)(*values))
            ends = []
            for step in (1e-6, -1e-6):
                moved = [v + step if j == i else v for j, v in enumerate(values)]
                ends.append(theirs(*moved))
            with np.errstate(invalid="ignore"):
                expected = (ends[0] - ends[1]) / 2e-6
            known = np.isfinite(expected)
            assert known.sum() > 4
            np.testing.assert_allclose(slope[known], expected[known], rtol=1e-5, atol=1e-6)
            assert (slope[~np.isfinite(ends[0])] == 0).all()


def test_vectors() -> None:
    with irax.enable_x64(True):
        x, mean = RNG.standard_normal((5, 3)), RNG.standard_normal(3)
        root = RNG.standard_normal((3, 3))
        cov = root @ root.T + np.eye(3)
        theirs = scipy.stats.multivariate_normal
        for ours, expected in (
            (stats.multivariate_normal.logpdf(x, mean, cov), theirs.logpdf(x, mean, cov)),
            (stats.multivariate_normal.pdf(x, mean, cov), theirs.pdf(x, mean, cov)),
            (stats.multivariate_normal.logpdf(x, mean, 2.0), theirs.logpdf(x, mean, 2.0)),
            (stats.multivariate_normal.logpdf(x[:, 0], 1.0, 2.0), theirs.logpdf(x[:, 0], 1.0, 2.0)),
        ):
            np.testing.assert_allclose(ours, expected, rtol=1e-10)
        shares, alpha = RNG.dirichlet([1, 2, 3], 4).T, np.array([1.5, 2.0, 3.0])
        for rows in (shares, shares[:2]):
            expected = scipy.stats.dirichlet.logpdf(shares, alpha)
            np.testing.assert_allclose(stats.dirichlet.logpdf(rows, alpha), expected, rtol=1e-9)
            np.testing.assert_allclose(stats.dirichlet.pdf(rows, alpha), np.exp(expected))
        assert stats.dirichlet.logpdf(np.array([0.9, 0.9, 0.1]), alpha) == -np.inf
        counts, p = RNG.multinomial(6, [0.2, 0.3, 0.5], 4), np.array([0.2, 0.3, 0.5])
        expected = scipy.stats.multinomial.logpmf(counts, 6, p)
        with irax.numpy_dtype_promotion("strict"):
            found = stats.multinomial.logpmf(counts, 6, p)
        np.testing.assert_allclose(found, expected, rtol=1e-10)
        np.testing.assert_allclose(stats.multinomial.pmf(counts, 6, p), np.exp(expected))
        assert stats.multinomial.logpmf(counts[0], 7, p) == -np.inf


SAMPLES = RNG.integers(0, 4, (5, 6))


@pytest.mark.parametrize("axis", [0, 1, None])
def test_statistics(axis) -> None:
    for keepdims in (False, True):
        found, theirs = (m.mode(SAMPLES, axis, keepdims=keepdims) for m in (stats, scipy.stats))
        np.testing.assert_array_equal(found.mode, theirs.mode)
        np.testing.assert_array_equal(found.count, theirs.count)
    for method in ("average", "min", "max", "dense", "ordinal"):
        found = stats.rankdata(SAMPLES, method, axis=axis)
        np.testing.assert_array_equal(found, scipy.stats.rankdata(SAMPLES, method, axis=axis))
    found = stats.sem(SAMPLES, axis, 2)
    np.testing.assert_allclose(found, scipy.stats.sem(SAMPLES, axis, 2), rtol=1e-5)
    holes = np.where(SAMPLES == 1, np.nan, SAMPLES).astype("f4")
    theirs = scipy.stats.sem(holes, axis, nan_policy="omit")
    np.testing.assert_allclose(stats.sem(holes, axis, nan_policy="omit"), theirs, rtol=1e-5)
    np.testing.assert_array_equal(
        stats.rankdata(holes, axis=axis), scipy.stats.rankdata(holes, axis=axis)
    )


@pytest.mark.parametrize("method", [None, "silverman", 0.4])
@pytest.mark.parametrize("shape", [(9,), (2, 9)])
def test_kernel_densities(shape, method) -> None:
    with irax.enable_x64(True):
        data, weights = RNG.standard_normal(shape), RNG.uniform(0.5, 1, 9)
        ours = stats.gaussian_kde(data, method, weights)
        theirs = scipy.stats.gaussian_kde(data, method, weights)
        points = RNG.standard_normal((*shape[:-1], 4))
        np.testing.assert_allclose(ours(points), theirs(points), rtol=1e-9)
        np.testing.assert_allclose(ours.logpdf(points), theirs.logpdf(points), rtol=1e-9)
        np.testing.assert_allclose(ours.integrate_kde(ours), theirs.integrate_kde(theirs))
        d = data.size // 9
        box = np.zeros(d), np.eye(d)
        np.testing.assert_allclose(ours.integrate_gaussian(*box), theirs.integrate_gaussian(*box))
        if d == 1:
            np.testing.assert_allclose(
                ours.integrate_box_1d(-1, 0.5), theirs.integrate_box_1d(-1, 0.5)
            )
        drawn = ours.resample(irax.random.key(0), (20_000,))
        assert drawn.shape == (d, 20_000)
        np.testing.assert_allclose(
            drawn.mean(1), np.average(np.atleast_2d(data), 1, weights), atol=0.05
        )


def test_compiled_and_batched() -> None:
    @irax.jit
    def f(x, a):
        return stats.norm.logcdf(x, a) + stats.gamma.logpdf(x, a) + stats.t.logpdf(x, a)

    x = np.array([0.5, 2.0, 3.0], "f4")
    expected = [f(v, 1.5) for v in x]
    np.testing.assert_allclose(irax.vmap(f, (0, None))(x, 1.5), expected, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "end"), [("logcdf", 1.0), ("logsf", 0.0)])
def test_slopes_where_the_beta_distribution_ends(name, end) -> None:
    """Its density there is zero, and the slope of the density's logarithm infinite."""
    slope = irax.grad(lambda x: getattr(stats.beta, name)(x, 2.0, 3.0))
    assert slope(end) == irax.jit(slope)(end) == 0


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: stats.beta.pdf(0.5, 1.0), TypeError, "beta.pdf.*missing a required argument: 'b'"),
        (lambda: stats.t.cdf, AttributeError, "stats.t has no function 'cdf'"),
        (lambda: stats.norm.pdf([1.0]), TypeError, "norm.pdf: x: "),
        (lambda: stats.mode(SAMPLES, nan_policy="omit"), NotImplementedError, "nan_policy"),
        (lambda: stats.rankdata(SAMPLES, "x"), ValueError, "method must be one of"),
        (lambda: stats.gaussian_kde(np.zeros(1)), ValueError, "more than one sample"),
        (lambda: stats.multivariate_normal.logpdf(0, 0, 1, True), NotImplementedError, "singular"),
        (lambda: stats.dirichlet.pdf(jnp.ones(5), jnp.ones(3)), ValueError, "first dimension 2 or"),
    ],
)
def test_wrong_arguments(call, error, message) -> None:
    with pytest.raises(error, match=message):
        call()


def test_what_distributions_say() -> None:
    assert isinstance(stats.norm, Distribution)
    assert repr(stats.norm) == "<distribution irax.scipy.stats.norm>"
    assert stats.norm.pdf.__doc__ == "The probability density at x."


def test_entropies_of_poisson():
    means = np.array([0.0, 0.1, 3.0, 50.0, 99.0, 101.0, 1e4, -1.0])
    found = irax.scipy.stats.poisson.entropy(means.astype("f4"))
    logs = scipy.stats.poisson.logpmf(np.arange(12_000)[:, None], means[:-1])
    expected = -np.sum(np.exp(logs) * np.where(logs < -700, 0, logs), 0)
    np.testing.assert_allclose(found[:-1], expected, rtol=1e-4, atol=1e-6)
    assert np.isnan(found[-1])


WRONG = {  # parameters in the order of `CASES`, of which each in turn becomes one of these
    "bernoulli": (-0.5, 1.5),
    "beta": (0.0, -1.0),
    "betabinom": (-1.0,),
    "binom": (-1.0,),
    "chi2": (0.0, -1.0),
    "gamma": (0.0, -1.0),
    "gennorm": (0.0, -1.0),
    "geom": (0.0, 1.5),
    "nbinom": (0.0, -1.0),
    "pareto": (0.0, -1.0),
    "poisson": (-1.0,),
    "t": (0.0, -1.0),
    "vonmises": (-1.0,),
    "wrapcauchy": (0.0, 1.0),
}


@pytest.mark.parametrize("name", WRONG)
def test_parameters_of_no_distribution_give_nan(name):
    ours, scipys = getattr(stats, name), getattr(scipy.stats, name)
    function = "logpmf" if hasattr(ours, "logpmf") else "logpdf"
    _, parameters = CASES[name]
    for place in range(len(parameters)):
        for value in WRONG[name]:
            given = [value if i == place else float(p[0]) for i, p in enumerate(parameters)]
            assert np.isnan(getattr(scipys, function)(1.0, *given))
            assert np.isnan(getattr(ours, function)(1.0, *given))


def test_scales_and_bounds_of_no_distribution_give_nan():
    assert np.isnan(stats.norm.cdf(1.0, scale=jnp.array([0.0, -1.0]))).all()
    assert np.isnan(stats.truncnorm.sf(np.array([-9.0, 0.5, 9.0]), 2.0, 1.0)).all()


def test_infinity_is_no_count():
    assert stats.nbinom.pmf(np.inf, 2.0, 0.5) == stats.geom.pmf(np.inf, 0.5) == 0


def test_functions_of_python_numbers_are_weak():
    assert stats.cauchy.cdf(0.5).weak_type
    assert stats.gamma.logpdf(0.5, 2.0).weak_type
    assert stats.cauchy.cdf(jnp.float16(0.5)).dtype == np.float16


def test_mode_of_no_elements():
    mode, count = stats.mode(jnp.zeros((0, 3), int), keepdims=True)
    assert mode.shape == count.shape == (1, 3)
    assert np.isnan(mode).all()
    assert not count.any()
    with pytest.raises(ValueError, match="axis 1 is out of bounds"):
        stats.mode(2.0, axis=1)


def test_dtypes_of_samples():
    assert stats.rankdata(jnp.ones(2, "float16")).dtype == np.float32
    assert stats.sem(jnp.array([1j, 2, 5])).dtype == np.complex64
    assert stats.sem(jnp.array([1.0, 3.0]), ddof=None) == stats.sem(jnp.array([1.0, 3.0]), ddof=0)


@pytest.mark.parametrize("way", [lambda f: f, irax.jit], ids=["eager", "jit"])
def test_tails_of_subnormal_share(way):
    """Compiled programs take subnormal numbers for 0."""
    z = np.array([1e30, 1e38, 3e38], "f4")
    np.testing.assert_allclose(way(stats.cauchy.logsf)(z), scipy.stats.cauchy.logsf(z), rtol=1e-6)
    np.testing.assert_allclose(way(stats.cauchy.logcdf)(-z), scipy.stats.cauchy.logsf(z), rtol=1e-6)
