"""jax._src.debugging: jax.debug, whose functions have longer names here."""

from irax.debug import callback as debug_callback
from irax.debug import print as debug_print

__all__ = ["debug_callback", "debug_print"]
