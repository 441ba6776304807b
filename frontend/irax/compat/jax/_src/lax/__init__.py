"""jax._src.lax: jax.lax, in one of its modules."""

from irax.compat.layers import GetAttr, modules_of

__getattr__: GetAttr = modules_of(__name__)
