"""jax._src.dispatch: programs that run."""

from typing import Any

from irax.compat.jax.interpreters.xla import apply_primitive as apply_primitive
from irax.execution.callbacks import effects_barrier as wait_for_tokens

__all__ = ["apply_primitive", "prim_requires_devices_during_lowering", "wait_for_tokens"]

prim_requires_devices_during_lowering: set[Any] = set()
"""Accepted: irax does not look at it."""
