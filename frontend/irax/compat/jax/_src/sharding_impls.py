"""jax._src.sharding_impls: another name of jax.sharding, and what functions make of shardings."""

from __future__ import annotations

from typing import Any

from irax.compat.jax.sharding import *  # noqa: F403
from irax.core.shardings.layouts import UNSPECIFIED as UNSPECIFIED
from irax.core.shardings.layouts import UnspecifiedValue as UnspecifiedValue
from irax.core.shardings.shardings import as_sharding


def canonicalize_sharding(sharding: Any, api_name: str, *_: Any, **__: Any) -> Any:
    """Return a sharding; of a `PartitionSpec` one for the mesh of the context."""
    return None if sharding is None else as_sharding(api_name, sharding)
