"""jax.interpreters.mlir: lowerings of primitives."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from irax.core.array import aval_of
from irax.core.avals import ShapedArray, ShapeDtypeStruct
from irax.execution.callbacks import io_callback, pure_callback
from irax.extend.rules import lowerings


class FunctionLowering:
    """A lowering of a primitive by a function of irax's operations."""

    def __init__(self, function: Callable[..., Any], multiple_results: bool) -> None:
        self.function: Callable[..., Any] = function
        self.multiple_results: bool = multiple_results


def lower_fun(fun: Callable[..., Any], multiple_results: bool = True) -> FunctionLowering:
    """Return the lowering that writes the operations of a function."""
    return FunctionLowering(fun, multiple_results)


class ModuleContext:
    """The module that a lowering writes to. Callbacks keep themselves alive."""

    def add_keepalive(self, keepalive: Any) -> None:
        """Accepted: nothing is to be kept alive."""


@dataclass(frozen=True)
class LoweringRuleContext:
    """Accompanies the operands of a lowering: the primitive that is lowered, the types of the
    operands and those of the results.
    """

    primitive: Any
    avals_in: Sequence[ShapedArray]
    avals_out: Sequence[ShapedArray]
    module_context: ModuleContext = field(default_factory=ModuleContext)


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
    avals = [aval_of(x) for x in operands]
    found, _ = prim.abstract_eval(*avals, **params)
    results = rule(
        LoweringRuleContext(prim, avals, found if prim.multiple_results else [found]),
        *operands,
        **params,
    )
    return results if prim.multiple_results else results[0]


def emit_python_callback(
    ctx: LoweringRuleContext,
    callback: Callable[..., Any],
    token: Any,
    operands: Sequence[Any],
    operand_avals: Sequence[ShapedArray],
    result_avals: Sequence[ShapedArray],
    *,
    has_side_effect: bool,
    returns_token: bool = True,
    partitioned: bool = False,
    sharding: Any = None,
) -> tuple[Sequence[Any], Any, Any]:
    """Write a call of a Python function of arrays, which returns a sequence of them; return its
    results, the token, and what is to be kept alive, which is nothing.

    Args:
        ctx: the context of the lowering.
        callback: the function.
        token: returned as it is; calls with side effects are ordered.
        operands: the arrays.
        operand_avals: their types.
        result_avals: the types of the results.
        has_side_effect: False if the call may be left out where nothing uses its results.
        returns_token: accepted.
        partitioned: accepted.
        sharding: accepted.
    """
    types = tuple(ShapeDtypeStruct(a.shape, a.dtype) for a in result_avals)
    call = functools.partial(io_callback, ordered=True) if has_side_effect else pure_callback
    return call(callback, types, *operands), token, None


def cache_lowering(rule: Any) -> Any:
    """Return a lowering as it is."""
    return rule
