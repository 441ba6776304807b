"""jax._src.flatten_util: another name of jax.flatten_util."""

from irax.flatten_util import ravel_pytree as ravel_pytree
