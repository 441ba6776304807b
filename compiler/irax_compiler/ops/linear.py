"""Base classes of ops that are linear in one operand or in each of two, with their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from irax_compiler.mlir import Value
from irax_compiler.ops.core import Linear, Op, Tangent, add_tangents, only
from irax_compiler.ops.transformation import Differentiation, Transposition


class LinearOp(Op):
    """An op that is linear in its only operand: its tangent is itself, of the tangent."""

    linear_in = None

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        return results, [self(only(tangents))]


class Bilinear(Op):
    """A product: an op that is linear in each of two operands, but not in both together. Its
    derivatives are products too; a subclass defines its transposes.
    """

    linear_in = (0, 1)
    is_product = True
    links_by_zeros = True

    def cotangent(self, number: int, ct: Value, x: Any, y: Any) -> Tangent:
        """The cotangent of operand `number`, which is `Linear`; the other one is a value."""
        raise NotImplementedError

    def is_linear_in(self, operands: Sequence[int]) -> bool:
        return len(operands) == 1

    def is_flat(self, operands: Sequence[Value]) -> bool:
        return False

    def tangent(
        self, primals: Sequence[Value], tangents: Sequence[Tangent], result: Value
    ) -> Tangent:
        """The tangent of the result."""
        (x, y), (t_x, t_y) = primals, tangents
        of_x = None if t_x is None else self(t_x, y)
        if t_y is None:
            return of_x
        # The tangent first, if it may be: both products of x * x are one expression then.
        return add_tangents(of_x, self(t_y, x) if self.commutative else self(x, t_y))

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        return results, [self.tangent(primals, tangents, results[0])]

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        ct = only(cotangents)
        return [
            self.cotangent(number, ct, *operands) if isinstance(operand, Linear) else None
            for number, operand in enumerate(operands)
        ]
