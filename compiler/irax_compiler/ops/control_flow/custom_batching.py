"""The op irax.custom_vmap: a call of a function with a batching rule of its own.

In the IR it is a composite: the decomposition is the function, and an attribute names the rule, a
Python function of the process that traced it. In other processes, and for derivatives, it is a
plain call of the function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakValueDictionary

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Module, Type, Value
from irax_compiler.ops import shape
from irax_compiler.ops.attributes import I64, STRING, attribute, from_operation
from irax_compiler.ops.composite import decomposition_of, register_composed
from irax_compiler.ops.control_flow.custom_rules import RuledOp
from irax_compiler.ops.core import Axis, Tangent, UnsupportedOp
from irax_compiler.ops.structured import call_function
from irax_compiler.ops.transformation import Batching, Differentiation


class BatchRule(Protocol):
    """The signature of a custom batching rule."""

    def __call__(
        self, module: Module, size: int, mapped: Sequence[bool], types: Sequence[Type]
    ) -> tuple[str, Sequence[np.ndarray], Sequence[bool]]:
        """Add the batched function to a module, for arguments whose mapped ones have the lanes
        first. Return its name, constants that it takes after its arguments, and which of its
        results are mapped.
        """
        ...


RULES: WeakValueDictionary[str, Any] = WeakValueDictionary()
"""The rules by the names that the IR has for them."""


@register_composed
@dataclass(frozen=True)
class CustomVmap(RuledOp):
    """The arguments, `num_args` of them, are followed by values from outside."""

    name = "irax.custom_vmap"
    function: str = from_operation(decomposition_of)
    rule: str = attribute(STRING)
    num_args: int = attribute(I64)

    @property
    def rule_names(self) -> tuple[str, ...]:
        return ()

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        return transform.ask(self.plain(transform), primals, tangents)

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        rule: BatchRule | None = RULES.get(self.rule)
        if rule is None:
            return self.plain(transform).batch(transform, operands, axes)
        if any(axis is not None for axis in axes[self.num_args :]):
            raise UnsupportedOp(
                f"{self.name}: @{self.function} uses a value from outside that differs between "
                "lanes, of which its rule knows nothing: pass the value as an argument"
            )
        given = list(zip(operands[: self.num_args], axes, strict=False))
        placed = [x if axis is None else shape.move_axis(x, axis, 0) for x, axis in given]
        mapped = [axis is not None for _, axis in given]
        name, constants, out = rule(
            mlir.open_module(), transform.size, mapped, [x.type for x in placed]
        )
        others = [shape.Constant(x)() for x in constants]
        functions = mlir.Functions(mlir.open_module())  # one of them is new
        results = call_function(functions, name, [*placed, *others])
        return results, [0 if is_mapped else None for is_mapped in out]
