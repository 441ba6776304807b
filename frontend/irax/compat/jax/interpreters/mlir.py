"""jax.interpreters.mlir: lowerings of primitives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from irax.extend.rules import lowerings


class FunctionLowering:
    """A lowering of a primitive by a function of irax's operations."""

    def __init__(self, function: Callable[..., Any], multiple_results: bool) -> None:
        self.function: Callable[..., Any] = function
        self.multiple_results: bool = multiple_results


def lower_fun(fun: Callable[..., Any], multiple_results: bool = True) -> FunctionLowering:
    """Return the lowering that writes the operations of a function."""
    return FunctionLowering(fun, multiple_results)


def register_lowering(
    prim: Any,
    rule: FunctionLowering | Callable[..., Any],
    platform: str | None = None,
    inline: bool = True,
    cacheable: bool = True,
) -> Any:
    """Set the lowering of a primitive.

    Args:
        prim: the primitive.
        rule: what `lower_fun` returns. Others, which build MLIR by JAX's bindings, are not run: the
            implementation is traced in their place.
        platform: the lowering is for all platforms if it is None, which it has to be.
        inline: accepted.
        cacheable: accepted.
    """
    if platform is None and isinstance(rule, FunctionLowering):
        lowerings[prim] = rule.function
    return rule


def cache_lowering(rule: Any) -> Any:
    """Return a lowering as it is."""
    return rule
