"""jax.experimental.pjit: another name of jit."""

from irax.execution.jit import jit as pjit

__all__ = ["pjit"]
