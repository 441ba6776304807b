"""jax._src: the few internal modules that libraries import."""

from irax.compat.layers import GetAttr, modules_of

__getattr__: GetAttr = modules_of(__name__)
