"""jax._src.lib: what is left of it."""

from irax.compat.layers import GetAttr, modules_of

__getattr__: GetAttr = modules_of(__name__)
