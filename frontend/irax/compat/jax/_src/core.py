"""jax._src.core: another name of jax.core."""

from irax.compat.jax.core import *  # noqa: F403
from irax.compat.jax.core import trace_state_clean as trace_state_clean
