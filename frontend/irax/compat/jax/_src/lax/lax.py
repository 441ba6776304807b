"""jax._src.lax.lax: another name of jax.lax."""

from typing import Any

from irax.compat.jax import lax


def __getattr__(name: str) -> Any:
    return getattr(lax, name)
