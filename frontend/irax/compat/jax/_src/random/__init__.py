"""jax._src.random: jax.random, and modules that pickled keys name."""

import irax.random
from irax.compat.jax._src.typing import Shape as Shape
from irax.compat.layers import GetAttr, in_front_of

__getattr__: GetAttr = in_front_of(__name__, irax.random)
