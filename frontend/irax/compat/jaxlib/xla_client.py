"""jaxlib.xla_client: another name of jaxlib._jax, and what errors were called."""

from irax.compat.jaxlib._jax import *  # noqa: F403
