"""irax.scipy.special: SciPy's special functions, element by element.

Arrays of any shapes that broadcast; integers become floats. A list is a TypeError, as everywhere.
"""

from irax.execution.replay import replay_functions as _replay_functions
from irax.nn.axes import logsumexp as logsumexp
from irax.scipy.special.bessels import bessel_jn as bessel_jn
from irax.scipy.special.bessels import i0 as i0
from irax.scipy.special.bessels import i0e as i0e
from irax.scipy.special.bessels import i1 as i1
from irax.scipy.special.bessels import i1e as i1e
from irax.scipy.special.bessels import sph_harm_y as sph_harm_y
from irax.scipy.special.gammas import bernoulli as bernoulli
from irax.scipy.special.gammas import beta as beta
from irax.scipy.special.gammas import betainc as betainc
from irax.scipy.special.gammas import betaln as betaln
from irax.scipy.special.gammas import comb as comb
from irax.scipy.special.gammas import digamma as digamma
from irax.scipy.special.gammas import factorial as factorial
from irax.scipy.special.gammas import gamma as gamma
from irax.scipy.special.gammas import gammainc as gammainc
from irax.scipy.special.gammas import gammaincc as gammaincc
from irax.scipy.special.gammas import gammaln as gammaln
from irax.scipy.special.gammas import gammasgn as gammasgn
from irax.scipy.special.gammas import loggamma as loggamma
from irax.scipy.special.gammas import multigammaln as multigammaln
from irax.scipy.special.gammas import poch as poch
from irax.scipy.special.gammas import polygamma as polygamma
from irax.scipy.special.gammas import zeta as zeta
from irax.scipy.special.hypergeometric import hyp1f1 as hyp1f1
from irax.scipy.special.hypergeometric import hyp2f1 as hyp2f1
from irax.scipy.special.integrals import exp1 as exp1
from irax.scipy.special.integrals import expi as expi
from irax.scipy.special.integrals import expn as expn
from irax.scipy.special.integrals import fresnel as fresnel
from irax.scipy.special.integrals import sici as sici
from irax.scipy.special.integrals import spence as spence
from irax.scipy.special.logarithms import boxcox as boxcox
from irax.scipy.special.logarithms import boxcox1p as boxcox1p
from irax.scipy.special.logarithms import entr as entr
from irax.scipy.special.logarithms import expit as expit
from irax.scipy.special.logarithms import kl_div as kl_div
from irax.scipy.special.logarithms import log_softmax as log_softmax
from irax.scipy.special.logarithms import logit as logit
from irax.scipy.special.logarithms import rel_entr as rel_entr
from irax.scipy.special.logarithms import softmax as softmax
from irax.scipy.special.logarithms import xlog1py as xlog1py
from irax.scipy.special.logarithms import xlogy as xlogy
from irax.scipy.special.normal import dawsn as dawsn
from irax.scipy.special.normal import erf as erf
from irax.scipy.special.normal import erfc as erfc
from irax.scipy.special.normal import erfcinv as erfcinv
from irax.scipy.special.normal import erfcx as erfcx
from irax.scipy.special.normal import erfinv as erfinv
from irax.scipy.special.normal import log_ndtr as log_ndtr
from irax.scipy.special.normal import ndtr as ndtr
from irax.scipy.special.normal import ndtri as ndtri
from irax.scipy.special.normal import owens_t as owens_t
from irax.scipy.special.normal import wofz as wofz

_replay_functions(__name__, also=("irax.nn.axes",))
