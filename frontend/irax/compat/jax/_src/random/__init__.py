"""jax._src.random: jax.random, and modules that pickled keys name."""

import irax.random
from irax.compat.layers import GetAttr, in_front_of

__getattr__: GetAttr = in_front_of(__name__, irax.random)
