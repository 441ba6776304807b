"""Functions with rules of their own for how they are divided over devices, for other compilers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from irax.core.wrapping import wraps


@dataclass(frozen=True)
class _Batching:
    """Stands for the batched dimensions of a rule."""

    def __repr__(self) -> str:
        return "..."


BATCHING = _Batching()
"""Stands for the batched dimensions of a rule."""


class CompoundFactor(tuple[str, ...]):
    """The factors of one dimension of a rule, such as `CompoundFactor("b", "c")`."""

    def __new__(cls, *factors: str) -> CompoundFactor:
        if len(factors) < 2:
            raise ValueError(f"CompoundFactor: expected two factors or more, got {factors}")
        return super().__new__(cls, factors)


class ArrayMapping(tuple[Any, ...]):
    """The factors of the dimensions of an operand or a result."""

    def __new__(cls, *dim_mappings: Any) -> ArrayMapping:
        return super().__new__(cls, dim_mappings)


class SdyShardingRule:
    """A rule of Shardy's: the factors of operands and results, and which are of a kind.

    >>> SdyShardingRule((ArrayMapping("i", "j"),), (ArrayMapping("i"),), reduction_factors=("j",))
    SdyShardingRule((('i', 'j'),), (('i',),), reduction_factors=('j',))
    """

    def __init__(
        self,
        operand_mappings: tuple[ArrayMapping, ...],
        result_mappings: tuple[ArrayMapping, ...],
        *,
        reduction_factors: tuple[str, ...] = (),
        need_replication_factors: tuple[str, ...] = (),
        permutation_factors: tuple[str, ...] = (),
        **factor_sizes: int,
    ) -> None:
        self.operand_mappings: tuple[ArrayMapping, ...] = tuple(operand_mappings)
        self.result_mappings: tuple[ArrayMapping, ...] = tuple(result_mappings)
        self._kinds = {
            "reduction_factors": tuple(reduction_factors),
            "need_replication_factors": tuple(need_replication_factors),
            "permutation_factors": tuple(permutation_factors),
        }
        self.factor_sizes: dict[str, int] = factor_sizes

    def __repr__(self) -> str:
        said = {k: v for k, v in (self._kinds | self.factor_sizes).items() if v}
        texts = [str(self.operand_mappings), str(self.result_mappings)]
        return f"SdyShardingRule({', '.join([*texts, *(f'{k}={v!r}' for k, v in said.items())])})"


class custom_partitioning:
    """A function with a rule for how a compiler divides it over devices.

    irax divides the operations of the function itself, so the rule is never asked, and the function
    can be differentiated, mapped and traced as any other.

    Args:
        fun: a function of pytrees of arrays.
        static_argnums: of no effect: arguments that are no arrays stay as they are.

    >>> f = irax.experimental.custom_partitioning.custom_partitioning(lambda x: 2 * x)
    >>> f.def_partition(lambda mesh, args, result: None, sharding_rule="i -> i")
    >>> f(1.0)
    Array(2., dtype=float32, weak_type=True)
    """

    def __init__(self, fun: Callable[..., Any], static_argnums: Any = ()) -> None:
        self.fun: Callable[..., Any] = fun
        self.static_argnums: Any = static_argnums
        self._has_rule = False
        wraps(fun)(self)

    def def_partition(
        self,
        partition: Callable[..., Any] | None,
        infer_sharding_from_operands: Callable[..., Any] | None = None,
        propagate_user_sharding: Callable[..., Any] | None = None,
        decode_shardings: bool = True,
        sharding_rule: Any = None,
        *,
        reduction_factors: tuple[str, ...] = (),
        need_replication_factors: tuple[str, ...] = (),
        permutation_factors: tuple[str, ...] = (),
        **factor_sizes: int,
    ) -> None:
        """Set the rule, which is kept and never asked."""
        self._has_rule = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function.

        Raises:
            AttributeError: it has no rule yet.
        """
        if not self._has_rule:
            name = getattr(self.fun, "__name__", self.fun)
            raise AttributeError(f"custom_partitioning: {name} has no rule: set one, def_partition")
        return self.fun(*args, **kwargs)
