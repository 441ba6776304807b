"""Types of mutable arrays, of which irax has none."""

from irax.compat.jax.ref import AbstractRef as AbstractRef
