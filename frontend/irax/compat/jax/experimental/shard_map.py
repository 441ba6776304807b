"""jax.experimental.shard_map: the older name of `jax.shard_map`, which warns when it is used."""

from collections.abc import Callable
from typing import Any

from irax.experimental import shard_map as _module


def __getattr__(name: str) -> Callable[..., Any]:
    return getattr(_module, name)
