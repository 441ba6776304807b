"""Lines for irax.scipy, as in `numpy_cases.py`: against SciPy."""

import numpy as np
import scipy.cluster.vq
import scipy.fft
import scipy.integrate
import scipy.signal
import scipy.special
import scipy.stats
from tests.frontend.numpy_operands import C, J, S, Table

import irax

_special = Table("scipy.special", scipy.special)
case, cases = _special.case, _special.cases

cases("gamma loggamma erfcx logit", C(2, 3, low=-2, high=2), loose=40)
for shape in ((), (2, 3), (0, 2)):
    cases("erf erfc erfcx expit ndtr log_ndtr i0 i0e i1 i1e dawsn=dawsn", S(*shape), loose=20)
    cases("digamma gammaln gamma loggamma", S(*shape, low=0.5), loose=40)
    cases("gammasgn", S(*shape, low=0.5))
    cases("entr", S(*shape, low=0.1), loose=4)
    cases("logit ndtri", S(*shape, low=0.1, high=0.9), loose=20)
    cases("erfcinv", S(*shape, low=0.01, high=1.9), loose=9)
    cases("erfinv", S(*shape, low=-0.9, high=0.9), loose=9)
    cases("exp1 expi spence", S(*shape, low=0.2), loose=40)
    cases("fresnel sici", S(*shape, low=0.2), loose=40)
    cases("xlogy xlog1py kl_div rel_entr", S(*shape, low=0.1), S(*shape, low=0.1), loose=9)
    cases("beta betaln poch", S(*shape, low=0.5, high=3), S(*shape, low=0.5, high=3), loose=40)
    cases("gammainc gammaincc", S(*shape, low=0.5), S(*shape, low=0.5), loose=90)
    cases("boxcox boxcox1p", S(*shape, low=0.2), S(*shape, low=0.5, high=2), loose=20)
    cases("zeta", S(*shape, low=1.5), S(*shape, low=0.5), loose=90, smooth=False)
    case("owens_t", S(*shape), S(*shape), loose=40, smooth=False)
    unit, small = S(*shape, low=0.1, high=0.9), S(*shape, low=0.5, high=2)
    case("betainc", small, small, unit, loose=200, smooth=False)
    case("hyp1f1", small, S(*shape, low=1), unit, loose=200, smooth=False)
    case("hyp2f1", small, small, S(*shape, low=2), unit, loose=200, smooth=False)
case("factorial", np.float32([0, 1, 4, 2.5]), loose=20, smooth=False)
case("factorial", S(3, low=0.5), loose=20)
case("comb", np.float32([5, 6]), np.float32([2, 3]), loose=20, smooth=False)
case("expn", np.int32([1, 2]), S(2, low=0.2), loose=40, smooth=False)
case("expn", np.int32([2, 3]), S(2, low=0.5), loose=40)
case("polygamma", np.int32([0, 1, 2]), S(3, low=0.5), loose=90, smooth=False, jax=False)
case("multigammaln", S(3, low=3), 2, loose=20)
case("logsumexp", S(3, 4), axis=1, loose=4)
case("softmax", S(3, 4), axis=1, loose=4)
case("log_softmax", S(3, 4), axis=1, loose=4)
case("bernoulli", 6, loose=9)
case("wofz", np.complex64([1 + 1j, 0.3 - 0.2j]), loose=90, smooth=False)

_signal = Table("scipy.signal", scipy.signal)
for mode in ("full", "same", "valid"):
    for method in ("direct", "fft"):
        _signal.cases("convolve correlate", S(6), S(3), mode=mode, method=method, loose=40)
        _signal.cases("convolve correlate", S(4, 5), S(2, 3), mode=mode, method=method, loose=40)
    _signal.cases("convolve2d correlate2d", S(4, 5), S(2, 3), mode=mode, loose=20)
    _signal.case("fftconvolve", S(6), S(3), mode, loose=40)
for kind in ("constant", "linear"):
    _signal.case("detrend", S(3, 8), axis=1, type=kind, loose=40)

_fft = Table("scipy.fft", scipy.fft)
for norm in (None, "ortho"):
    _fft.cases("dct idct", S(2, 6), norm=norm, loose=20)
    _fft.cases("dct idct", S(2, 6), n=4, axis=0, norm=norm, loose=20)
    _fft.cases("dctn idctn", S(3, 4), norm=norm, loose=20)

Table("scipy.integrate", scipy.integrate).case("trapezoid", S(3, 4), dx=0.5, loose=4)
_cluster = Table("scipy.cluster.vq", scipy.cluster.vq)
_cluster.case("vq", S(6, 2), S(3, 2), loose=20, smooth=False)

_stats = Table("scipy.stats", scipy.stats)
_stats.case("rankdata", S(6), smooth=False)
_stats.case("rankdata", np.float32([1, 2, 2, 3]), "min", smooth=False)
_stats.case("sem", S(6, 3), axis=0, loose=9)
_stats.case("mode", J(7, low=0, high=2), reference="mode")

# What each distribution takes after x.
P, U = {"low": 0.5}, {"low": 0.1, "high": 0.9}
CONTINUOUS = {
    "beta": (U, P, P),
    "cauchy": ({},),
    "chi2": (P, P),
    "expon": (P,),
    "gamma": (P, P),
    "gennorm": ({}, P),
    "gumbel_l": ({},),
    "gumbel_r": ({},),
    "laplace": ({},),
    "logistic": ({},),
    "norm": ({},),
    "pareto": ({"low": 1.5}, P),
    "t": ({}, P),
    "truncnorm": (U, {"low": -2, "high": 0}, {"low": 1, "high": 2}),
    "uniform": (U,),
    "vonmises": ({"low": -3, "high": 3}, P),
    "wrapcauchy": ({"low": 0.1, "high": 6}, U),
}
DISCRETE = {
    "bernoulli": ({"high": 1}, U),
    "binom": ({"high": 4}, {"low": 5, "high": 9}, U),
    "betabinom": ({"high": 4}, {"low": 5, "high": 9}, P, P),
    "geom": ({}, U),
    "nbinom": ({}, {"low": 1, "high": 5}, U),
    "poisson": ({}, P),
}
SMOOTH = ("cauchy", "expon", "gamma", "gumbel_l", "gumbel_r", "logistic", "norm", "t", "vonmises")
_METHODS = (
    *("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf", "entropy"),
)


def _distribution(name: str, support: dict[str, float], parameters: list[dict[str, float]]) -> None:
    ours, theirs = getattr(irax.scipy.stats, name), getattr(scipy.stats, name)
    table = Table(f"scipy.stats.{name}", theirs)
    whole = name in DISCRETE
    given = [J(5, **how) if whole and how.get("low", 0) >= 1 else S(5, **how) for how in parameters]
    points = J(5, **{"low": 1} | support) if whole else S(5, **support)
    for method in _METHODS:
        if hasattr(ours, method) and hasattr(theirs, method):
            first = {"ppf": [S(5, **U)], "isf": [S(5, **U)], "entropy": []}.get(method, [points])
            smooth = method == "logpdf" and name in SMOOTH
            table.case(method, *first, *given, loose=400, smooth=smooth, jax=not whole)


for _name, (_support, *_parameters) in (CONTINUOUS | DISCRETE).items():
    _distribution(_name, _support, _parameters)
