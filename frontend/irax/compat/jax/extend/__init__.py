"""jax.extend: irax.extend, and a module that orbax imports."""

import irax.extend
from irax.compat.layers import GetAttr, in_front_of

__getattr__: GetAttr = in_front_of(__name__, irax.extend)
