"""jax._src.interpreters.ad: jax.interpreters.ad, and the error of rules that return tracers."""

from irax.compat.jax.interpreters.ad import *  # noqa: F403
from irax.errors import UnexpectedTracerError as CustomVJPException

__all__ = ["CustomVJPException"]
