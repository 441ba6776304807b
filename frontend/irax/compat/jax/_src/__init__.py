"""jax._src: internal modules that libraries import. Others are those of the same name in `jax`."""

from irax.compat import jax
from irax.compat.layers import GetAttr, in_front_of

__getattr__: GetAttr = in_front_of(__name__, jax)
