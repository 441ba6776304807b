"""jax._src.dispatch: programs that run."""

from irax.execution.callbacks import effects_barrier as wait_for_tokens

__all__ = ["wait_for_tokens"]
