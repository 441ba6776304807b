"""The strategies that reads of arrays are asked to take: they say what an index is."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax.core.tracing import Tracer

_STRATEGIES = ("auto", "gather", "scatter", "dynamic_slice", "static_slice")


def check_strategy(strategy: Any, index: Any) -> None:
    """Raise an error if an index is not one that a strategy is for.

    Raises:
        ValueError: there is no such strategy, or not for reads.
        TypeError: it is no name, or the index is not of it.
    """
    name = getattr(strategy, "value", strategy)
    if not isinstance(name, str):
        raise TypeError(f"get: strategy must be the name of a strategy, got {strategy!r}")
    if name not in _STRATEGIES:
        raise ValueError(f"get: strategy must be one of {_STRATEGIES}, got {strategy!r}")
    if name == "scatter":
        raise ValueError("get: the strategy 'scatter' is for updates, not for reads")
    if name in ("auto", "gather"):
        return
    is_static = name == "static_slice"
    for place, part in enumerate(index if isinstance(index, tuple) else (index,)):
        if part is None or part is Ellipsis:
            continue
        if isinstance(part, slice):
            if not is_static and part.step not in (None, 1):
                raise TypeError(f"get: dynamic_slice takes slices of step 1, got {part}")
            numbers = [x for x in (part.start, part.stop, part.step) if x is not None]
        else:
            numbers = [part]
        for x in numbers:
            is_known = not isinstance(x, Tracer) or not is_static
            if not (np.ndim(x) == 0 and is_known and _is_integer(x)):
                kinds = "ints and slices that are known" if is_static else "scalars and slices"
                raise TypeError(
                    f"get: {name} takes {kinds}, got {type(x).__name__} at position {place}"
                )


def _is_integer(x: Any) -> bool:
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        return isinstance(x, int) and not isinstance(x, bool)
    return np.issubdtype(dtype, np.integer)
