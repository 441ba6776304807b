"""The op clamp, which keeps numbers within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from irax_compiler.mlir import Value, shape_of
from irax_compiler.ops import elementwise, registers, shape
from irax_compiler.ops.comparison import greater, less, select
from irax_compiler.ops.core import (
    Axis,
    Op,
    Recomputation,
    Tangent,
    add_tangents,
    zeros_like,
)
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation


@register_class
@dataclass(frozen=True)
class Clamp(Op):
    """min(max(x, low), high); the bounds may be scalars."""

    name = "stablehlo.clamp"
    scalar_lowering = registers.CLAMP
    elementwise = True
    arithmetic = True
    recomputation = Recomputation.CHEAP

    def sized_types(self, operands: Sequence[Value]):
        return [operands[1].type]

    def evaluate(
        self, call: Evaluation, low: np.ndarray, x: np.ndarray, high: np.ndarray
    ) -> np.ndarray:
        at_least = elementwise.maximum.evaluate(call, x, low)
        return elementwise.minimum.evaluate(call, at_least, high)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        low, x, high = (shape.broadcast_scalar(v, shape_of(results[0])) for v in primals)
        zero = zeros_like(x)
        # Nothing wins where x is equal to a bound; high wins over low where they cross.
        where_it_wins = (
            lambda t: select(greater(low, x), select(less(low, high), t, zero), zero),
            lambda t: select(greater(x, low), select(less(x, high), t, zero), zero),
            lambda t: select(less(high, elementwise.maximum(x, low)), t, zero),
        )
        total: Tangent = None
        for t, share in zip(tangents, where_it_wins, strict=True):
            if t is not None:
                share_of_t = share(shape.broadcast_scalar(t, shape_of(x)))
                total = add_tangents(total, share_of_t)
        return results, [total]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        operands, axis = shape.align_scalars(transform.size, operands, axes, scalars=(0, 2), like=1)
        return self.build(operands), [axis]


clamp = Clamp()
