"""irax.random: random numbers from explicit keys, with the bits of JAX's generators.

A key is an array of dtype `key<fry>` (`key`), or one of two uint32 (`PRNGKey`); those of another
generator than threefry have dtypes, and numbers of words, of their own. The same key gives the same
numbers, always: `split` makes new keys. With the option `threefry_partitionable`, which is
on by default, the bits are drawn in the order that is cheap to split over devices, otherwise in the
older order.
"""

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.core.key_arrays import KeyArray as KeyArray
from irax.execution.replay import replay_functions as _replay_functions
from irax.random.basic import bernoulli as bernoulli
from irax.random.basic import bits as bits
from irax.random.basic import rademacher as rademacher
from irax.random.basic import randint as randint
from irax.random.basic import uniform as uniform
from irax.random.continuous import cauchy as cauchy
from irax.random.continuous import exponential as exponential
from irax.random.continuous import gumbel as gumbel
from irax.random.continuous import laplace as laplace
from irax.random.continuous import logistic as logistic
from irax.random.continuous import pareto as pareto
from irax.random.continuous import rayleigh as rayleigh
from irax.random.continuous import triangular as triangular
from irax.random.continuous import weibull_min as weibull_min
from irax.random.counts import binomial as binomial
from irax.random.counts import geometric as geometric
from irax.random.counts import multinomial as multinomial
from irax.random.counts import poisson as poisson
from irax.random.gammas import ball as ball
from irax.random.gammas import beta as beta
from irax.random.gammas import chisquare as chisquare
from irax.random.gammas import dirichlet as dirichlet
from irax.random.gammas import f as f
from irax.random.gammas import gamma as gamma
from irax.random.gammas import generalized_normal as generalized_normal
from irax.random.gammas import loggamma as loggamma
from irax.random.gammas import t as t
from irax.random.keys import Key as Key
from irax.random.keys import PRNGKey as PRNGKey
from irax.random.keys import clone as clone
from irax.random.keys import fold_in as fold_in
from irax.random.keys import key as key
from irax.random.keys import key_data as key_data
from irax.random.keys import key_dtype as key_dtype
from irax.random.keys import key_impl as key_impl
from irax.random.keys import split as split
from irax.random.keys import wrap_key_data as wrap_key_data
from irax.random.normals import double_sided_maxwell as double_sided_maxwell
from irax.random.normals import lognormal as lognormal
from irax.random.normals import maxwell as maxwell
from irax.random.normals import multivariate_normal as multivariate_normal
from irax.random.normals import normal as normal
from irax.random.normals import orthogonal as orthogonal
from irax.random.normals import truncated_normal as truncated_normal
from irax.random.normals import wald as wald
from irax.random.pickles import register as _register_pickles
from irax.random.selection import categorical as categorical
from irax.random.selection import choice as choice
from irax.random.selection import permutation as permutation

_replay_functions(
    __name__,
    but=(
        *("PRNGKey", "clone", "fold_in", "key", "key_data", "key_dtype", "key_impl"),
        "wrap_key_data",
    ),
)

_register_pickles(wrap_key_data)
__getattr__: _GetAttr = _refuse_names(__name__)
