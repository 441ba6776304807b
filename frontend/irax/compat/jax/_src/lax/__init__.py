"""jax._src.lax: jax.lax, in one of its modules."""

from irax.compat.jax import lax
from irax.compat.layers import GetAttr, in_front_of

__getattr__: GetAttr = in_front_of(__name__, lax)
