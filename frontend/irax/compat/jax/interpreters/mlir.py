"""jax.interpreters.mlir: lowerings of primitives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class LoweringRuleContext:
    """Accompanies the operands of a lowering: the primitive that is lowered."""

    primitive: Any


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
        rule: what `lower_fun` returns, or a function of a context and operands that returns a list
            of results. Operands are traced arrays, and so are the results of operations of
            `jax.extend.mlir.dialects`.
        platform: the lowering is for all platforms if it is None or "cpu", which it has to be.
        inline: accepted.
        cacheable: accepted.
    """
    if platform not in (None, "cpu"):
        return rule
    if isinstance(rule, FunctionLowering):
        lowerings[prim] = rule.function
    else:
        lowerings[prim] = functools.partial(_results, prim, rule)
    return rule


def _results(prim: Any, rule: Callable[..., Any], *operands: Any, **params: Any) -> Any:
    results = rule(LoweringRuleContext(prim), *operands, **params)
    return results if prim.multiple_results else results[0]


def cache_lowering(rule: Any) -> Any:
    """Return a lowering as it is."""
    return rule
