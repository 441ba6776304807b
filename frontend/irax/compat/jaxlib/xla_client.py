"""jaxlib.xla_client: another name of jaxlib._jax, and what errors are called there."""

from irax.compat.jaxlib._jax import *  # noqa: F403
from irax.errors import JaxRuntimeError

XlaRuntimeError = JaxRuntimeError
