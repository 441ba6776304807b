"""The older name of `irax.shard_map`, with `check_rep` for `check_vma`."""

from __future__ import annotations

import warnings as _warnings
from collections.abc import Callable
from typing import Any

import irax as _irax


def _shard_map(
    f: Callable[..., Any], mesh: Any, in_specs: Any, out_specs: Any, check_rep: bool = True
) -> Callable[..., Any]:
    """Return a function of whole arrays, of which each device of a mesh computes a part by `f`."""
    return _irax.shard_map(
        f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check_rep
    )


def __getattr__(name: str) -> Any:
    if name != "shard_map":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _warnings.warn(
        "irax.experimental.shard_map is deprecated: use irax.shard_map",
        DeprecationWarning,
        stacklevel=2,
    )
    return _shard_map
