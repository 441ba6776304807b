"""Calls of linear functions whose transposes are given.

    irax.linear_call(consts..., x...) -> y...

In the IR it is a composite: the decomposition is the function, and an attribute names its
transpose, which takes the same constants, then cotangents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops.attributes import I64, SYMBOL, attribute, from_operation
from irax_compiler.ops.composite import decomposition_of, register_composed
from irax_compiler.ops.control_flow.implicit import WithConstants
from irax_compiler.ops.core import Linear, Tangent, UnsupportedOp
from irax_compiler.ops.structured import instantiated
from irax_compiler.ops.transformation import Differentiation, Transposition


@register_composed
@dataclass(frozen=True)
class LinearCall(WithConstants):
    """A call of a function that is linear in all but the first `num_consts` operands. The transpose
    of the call is a call of `transposed`, of which `function` is the transpose.
    """

    name = "irax.linear_call"
    function: str = from_operation(decomposition_of)
    transposed: str = attribute(SYMBOL)
    num_consts: int = attribute(I64)

    @property
    def rule_names(self) -> tuple[str, ...]:
        return (self.function, self.transposed)

    def _renamed(self, names: dict[str, str]) -> LinearCall:
        return replace(self, function=names[self.function], transposed=names[self.transposed])

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        consts, x = self._parts(primals)
        d_consts, d_x = self._parts(tangents)
        if any(t is not None for t in d_consts):
            raise UnsupportedOp(
                f"{self.name}: @{self.function} has no derivative with respect to its residuals: "
                "make them linear arguments, or stop their gradient"
            )
        found = self.build(primals)
        if all(t is None for t in d_x):
            return found, [None] * len(found)
        return found, self.build([*consts, *instantiated(x, d_x, [True] * len(x))])

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        consts, x = self._parts(operands)
        if any(isinstance(c, Linear) for c in consts):
            raise UnsupportedOp(f"{self.name}: no transpose with respect to its residuals")
        results = [Linear(t) for t in mlir.result_types(transform.functions[self.function])]
        cts = instantiated(results, cotangents, [True] * len(results))
        back = replace(self, function=self.transposed, transposed=self.function)
        found = back.build([*consts, *cts])
        placed = (ct if isinstance(v, Linear) else None for v, ct in zip(x, found, strict=True))
        return [*[None] * len(consts), *placed]
