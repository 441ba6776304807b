"""irax.scipy.stats at the edges: nan, infinities, ends of supports and parameters, beside SciPy.

`differs` has a line for each difference, which says why.
"""

import itertools

import numpy as np
import pytest
import scipy.stats

import irax
import irax.scipy.stats as stats

INF, NAN = np.inf, np.nan
PLACES = (NAN, -INF, INF, 0.0, 1.0, -1.0, 0.5, 2.0, 1e-300, 1e-10, 1e10, -1e10, 5.0, 30.0)
COUNTS = (NAN, -INF, INF, 0.0, 1.0, -1.0, 2.0, 0.5, 7.0, 1e7)
SHARES = (NAN, -INF, INF, 0.0, 1.0, -1.0, 0.5, 2.0, 1e-300, 1e-10, 1 - 1e-10, 0.1)
POSITIVE = (NAN, INF, 0.0, -1.0, 1.0, 0.5, 1e-10, 2.0, 20.0)
CHANCES = (NAN, INF, 0.0, 1.0, 0.5, 1e-10, 1 - 1e-10, -0.5)
TRIALS = (NAN, 0.0, 1.0, 7.0, 1e6, -1.0)
PARAMETERS = {
    "bernoulli": (CHANCES,),
    "beta": (POSITIVE, POSITIVE),
    "betabinom": (TRIALS, POSITIVE, POSITIVE),
    "binom": (TRIALS, CHANCES),
    "cauchy": (),
    "chi2": (POSITIVE,),
    "expon": (),
    "gamma": (POSITIVE,),
    "gennorm": (POSITIVE,),
    "geom": (CHANCES,),
    "gumbel_l": (),
    "gumbel_r": (),
    "laplace": (),
    "logistic": (),
    "nbinom": (POSITIVE, CHANCES),
    "norm": (),
    "pareto": (POSITIVE,),
    "poisson": (POSITIVE,),
    "t": (POSITIVE,),
    "truncnorm": ((NAN, -INF, -2.0, 0.0, 5.0, 30.0, INF), (NAN, -INF, -1.0, 2.0, 7.0, 40.0, INF)),
    "uniform": (),
    "vonmises": (POSITIVE,),
    "wrapcauchy": (CHANCES,),
}
FUNCTIONS = ("logpdf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
CASES = [(n, f) for n in PARAMETERS for f in FUNCTIONS if f in vars(getattr(stats, n))]


def differs(name, function, x, parameters, ours, theirs):
    """Return why irax's value is not SciPy's, or None if it ought to be."""
    if function in ("logpdf", "logpmf"):
        if np.isnan(theirs) and np.isinf(x):
            return ours == -INF and "there is no density at infinity"
        if np.isnan(theirs) and INF in parameters:
            return "a limit, which SciPy does not take"
        if theirs == -INF and ours < -700:
            return "the density underflows in SciPy, its logarithm does not here"
    if name == "bernoulli" and function == "ppf" and x == 0 and theirs == -1:
        return ours == 0 and "as JAX's: in the support"
    if name == "bernoulli" and function == "ppf" and x == 1 and parameters == (0.0,):
        return ours == 0 and "the least count whose probability is reached, as JAX's"
    if name in ("pareto", "beta") and INF in parameters:
        return np.isnan(ours) and "no limit is taken of these at the ends of the support"
    if (name, function) == ("pareto", "ppf"):
        return abs(ours / theirs - 1) < 1e-6 and "SciPy rounds 1 - q"
    if function in ("logsf", "logcdf", "logpdf") and theirs == -INF and np.isfinite(ours):
        return "a logarithm of a tail, which underflows in SciPy"
    if name == "wrapcauchy" and theirs == INF:
        return ours < 30 and "1 + c**2 - 2 c cos(x) is 0 by cancellation in SciPy"
    if function == "logcdf" and theirs < -23 and abs(ours / theirs - 1) < 1e-6:
        return "a difference of nearly equal values, in SciPy as here"
    return None


@pytest.mark.parametrize("name, function", CASES)
def test_values(name, function):
    discrete = hasattr(getattr(stats, name), "logpmf")
    x = SHARES if function in ("ppf", "isf") else COUNTS if discrete else PLACES
    rows = np.array(list(itertools.product(x, *PARAMETERS[name])))
    with irax.enable_x64(True):
        ours = np.asarray(getattr(getattr(stats, name), function)(*rows.T))
    with np.errstate(all="ignore"):
        theirs = getattr(getattr(scipy.stats, name), function)(*rows.T)
    same = np.isclose(ours, theirs, rtol=2e-8, atol=1e-12, equal_nan=True)
    for i in np.flatnonzero(~same):
        where, *parameters = rows[i].tolist()
        assert differs(name, function, where, tuple(parameters), ours[i], theirs[i]), (
            f"{name}.{function}({rows[i].tolist()}): {ours[i]}, SciPy {theirs[i]}"
        )


@pytest.mark.parametrize("name, function", CASES)
def test_nan_of_any_argument_is_nan(name, function):
    values = [0.5, *([0.5] * len(PARAMETERS[name]))]
    if name in ("binom", "betabinom"):
        values[1] = 2.0
    if name == "truncnorm":
        values[1:] = [-1.0, 1.0]
    for i in range(len(values)):
        given = [NAN if i == j else v for j, v in enumerate(values)]
        assert np.isnan(getattr(getattr(stats, name), function)(*given)), given


def test_nan_is_nan_in_compiled_functions():
    @irax.jit
    def f(x):
        masses = stats.bernoulli.cdf(x, 0.5), stats.geom.pmf(x, 0.5), stats.nbinom.pmf(x, 2.0, 0.5)
        more = stats.betabinom.pmf(x, 3.0, 1.0, 1.0), stats.poisson.cdf(x, 2.0)
        return (*masses, *more, stats.binom.pmf(x, 3.0, 0.5), stats.uniform.cdf(x))

    assert np.isnan(f(np.float32(NAN))).all()
    assert not np.isnan(f(np.float32(1))).any()
