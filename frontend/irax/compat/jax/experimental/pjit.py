"""jax.experimental.pjit: jit for blocks `with mesh:`."""

from irax.execution.pjit import pjit as pjit

__all__ = ["pjit"]
