"""jax._src.numpy: jax.numpy, with the module in which its functions are promoted."""

import irax.numpy
from irax.compat.layers import GetAttr, in_front_of

__getattr__: GetAttr = in_front_of(__name__, irax.numpy)
