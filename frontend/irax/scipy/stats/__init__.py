"""irax.scipy.stats: SciPy's distributions, each with the functions JAX has of it, and statistics.

`norm.logpdf(x, loc, scale)`: arguments broadcast, integers become floats.
"""

from irax.execution.replay import replay_functions as _replay_functions
from irax.scipy.stats.continuous import beta as beta
from irax.scipy.stats.continuous import cauchy as cauchy
from irax.scipy.stats.continuous import chi2 as chi2
from irax.scipy.stats.continuous import expon as expon
from irax.scipy.stats.continuous import gamma as gamma
from irax.scipy.stats.continuous import gennorm as gennorm
from irax.scipy.stats.continuous import gumbel_l as gumbel_l
from irax.scipy.stats.continuous import gumbel_r as gumbel_r
from irax.scipy.stats.continuous import laplace as laplace
from irax.scipy.stats.continuous import logistic as logistic
from irax.scipy.stats.continuous import norm as norm
from irax.scipy.stats.continuous import pareto as pareto
from irax.scipy.stats.continuous import t as t
from irax.scipy.stats.continuous import truncnorm as truncnorm
from irax.scipy.stats.continuous import uniform as uniform
from irax.scipy.stats.continuous import vonmises as vonmises
from irax.scipy.stats.continuous import wrapcauchy as wrapcauchy
from irax.scipy.stats.discrete import bernoulli as bernoulli
from irax.scipy.stats.discrete import betabinom as betabinom
from irax.scipy.stats.discrete import binom as binom
from irax.scipy.stats.discrete import geom as geom
from irax.scipy.stats.discrete import nbinom as nbinom
from irax.scipy.stats.discrete import poisson as poisson
from irax.scipy.stats.kde import gaussian_kde as gaussian_kde
from irax.scipy.stats.multivariate import dirichlet as dirichlet
from irax.scipy.stats.multivariate import multinomial as multinomial
from irax.scipy.stats.multivariate import multivariate_normal as multivariate_normal
from irax.scipy.stats.samples import mode as mode
from irax.scipy.stats.samples import rankdata as rankdata
from irax.scipy.stats.samples import sem as sem

_replay_functions(__name__)
