"""jax._src.state: mutable arrays."""

from irax.compat.layers import GetAttr, modules_of

__getattr__: GetAttr = modules_of(__name__)
