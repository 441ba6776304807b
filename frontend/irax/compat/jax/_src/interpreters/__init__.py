"""jax._src.interpreters: jax.interpreters, of which some modules have further names."""

from irax.compat.jax import interpreters
from irax.compat.layers import GetAttr, in_front_of

__getattr__: GetAttr = in_front_of(__name__, interpreters)
