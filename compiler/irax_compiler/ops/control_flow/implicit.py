"""Solutions of equations, which are differentiated by the implicit function theorem: no step of the
solver is.

    irax.linear_solve(consts..., b...) -> (x..., aux...)          A(consts) x = b
    irax.root(consts..., guess...) -> (x..., aux...)              f(consts, x) = 0

In the IR they are composites: the decomposition solves, and attributes name the functions that the
equation is made of. Each takes all the constants, then its own arguments. Derivatives with respect
to the constants are those of the equation; what else the solver makes of them (an initial guess, a
preconditioner) has none, nor has aux.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops import elementwise, shape
from irax_compiler.ops.attributes import I64, SYMBOL, attribute, from_operation
from irax_compiler.ops.composite import decomposition_of, register_composed
from irax_compiler.ops.control_flow.custom_rules import RuledOp, batched_first
from irax_compiler.ops.core import Axis, Linear, Tangent, UnsupportedOp
from irax_compiler.ops.structured import Call, instantiated
from irax_compiler.ops.transformation import Batching, Dependence, Differentiation, Transposition


class NoReverseMode(UnsupportedOp, TypeError):
    """Reverse mode was asked of a function that has only forward mode."""


class WithConstants(RuledOp):
    """An op whose functions take `num_consts` constants, then their own arguments."""

    num_consts: int

    def dependent_results(self, dependence: Dependence, flags: Sequence[bool]) -> None:
        return None

    def _parts(self, values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The constants, and the rest."""
        return list(values[: self.num_consts]), list(values[self.num_consts :])

    def _change(
        self,
        transform: Differentiation,
        equation: str,
        consts: Sequence[Value],
        x: Sequence[Value],
        d_consts: Sequence[Tangent],
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        """Return what a function of the constants and x gives, and the tangents of that for those
        of constants alone.
        """
        if not any(t is not None for t in d_consts):
            return x, [None] * len(x)
        call = Call(equation, tuple(mlir.result_types(transform.functions[equation])))
        return transform.ask(call, [*consts, *x], [*d_consts, *[None] * len(x)])

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        """All but the constants is mapped, at its first axis: with the equations, or the right hand
        sides, their solutions differ.
        """
        const_axes, own_axes = self._parts(axes)
        batched: dict[str, str] = {}
        for name in self.rule_names:
            source = transform.functions[name]
            own = len(mlir.arguments(source)) - self.num_consts
            derived = transform.function(name, (*const_axes, *[0] * own))
            count = len(derived.results)
            batched[name] = batched_first(transform, derived, count, f"{name}.batch.first")
        op = self._renamed(batched)
        consts, own = self._parts(operands)
        given = [
            shape.batched_at(x, axis, transform.size, 0)
            for x, axis in zip(own, own_axes, strict=True)
        ]
        results = op.build([*consts, *given])
        return results, [0] * len(results)

    def _renamed(self, names: dict[str, str]) -> WithConstants:
        """Return this op with its functions renamed."""
        raise NotImplementedError


@register_composed
@dataclass(frozen=True)
class LinearSolve(WithConstants):
    """The solution of a system of linear equations. `matvec` applies A and `function` its inverse;
    `vecmat` applies the transpose of A and `transposed` its inverse, if they are given.
    """

    name = "irax.linear_solve"
    function: str = from_operation(decomposition_of)
    matvec: str = attribute(SYMBOL)
    num_consts: int = attribute(I64)
    transposed: str | None = attribute(SYMBOL)
    vecmat: str | None = attribute(SYMBOL)

    @property
    def rule_names(self) -> tuple[str, ...]:
        names = (self.function, self.matvec, self.transposed, self.vecmat)
        return tuple(dict.fromkeys(name for name in names if name is not None))

    def _renamed(self, names: dict[str, str]) -> LinearSolve:
        return replace(
            self,
            function=names[self.function],
            matvec=names[self.matvec],
            transposed=None if self.transposed is None else names[self.transposed],
            vecmat=None if self.vecmat is None else names[self.vecmat],
        )

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        consts, b = self._parts(primals)
        d_consts, d_b = self._parts(tangents)
        found = self.build(primals)
        x = found[: len(b)]
        # A x = b, so A dx = db - dA x.
        _, changes = self._change(transform, self.matvec, consts, x, d_consts)
        rhs = [_difference(t, change) for t, change in zip(d_b, changes, strict=True)]
        if not any(t is not None for t in rhs):
            return found, [None] * len(found)
        d_found = self.build([*consts, *instantiated(b, rhs, [True] * len(b))])
        return found, [*d_found[: len(b)], *[None] * (len(found) - len(b))]

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        consts, b = self._parts(operands)
        if self.transposed is None or self.vecmat is None:
            raise NoReverseMode(
                f"{self.name}: reverse mode solves with the transpose of @{self.matvec}: give "
                "custom_linear_solve a transpose_solve, or symmetric=True if that is so"
            )
        if any(isinstance(x, Linear) for x in consts):
            raise UnsupportedOp(f"{self.name}: no transpose with respect to the equations")
        op = replace(
            self,
            function=self.transposed,
            matvec=self.vecmat,
            transposed=self.function,
            vecmat=self.matvec,
        )
        given = instantiated(b, cotangents[: len(b)], [True] * len(b))
        found = op.build([*consts, *given])
        return [
            *[None] * len(consts),
            *(ct if isinstance(x, Linear) else None for x, ct in zip(b, found, strict=False)),
        ]


@register_composed
@dataclass(frozen=True)
class Root(WithConstants):
    """A root of `equation` near a guess. `tangent_solve` takes the constants, the root and y, and
    returns the x along which the equation's derivative at the root is y.
    """

    name = "irax.root"
    function: str = from_operation(decomposition_of)
    equation: str = attribute(SYMBOL)
    tangent_solve: str = attribute(SYMBOL)
    num_consts: int = attribute(I64)

    @property
    def rule_names(self) -> tuple[str, ...]:
        return (self.function, self.equation, self.tangent_solve)

    def _renamed(self, names: dict[str, str]) -> Root:
        function, equation, tangent_solve = (names[n] for n in self.rule_names)
        return replace(self, function=function, equation=equation, tangent_solve=tangent_solve)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        consts, guess = self._parts(primals)
        d_consts, _ = self._parts(tangents)
        found = self.build(primals)
        x = found[: len(guess)]
        # f(c, x) = 0, so df/dx dx = -df/dc dc.
        y, changes = self._change(transform, self.equation, consts, x, d_consts)
        if not any(t is not None for t in changes):
            return found, [None] * len(found)
        rhs = [elementwise.negate(t) for t in instantiated(y, changes, [True] * len(y))]
        _, moved = transform.call_rule(self.tangent_solve, [*consts, *x], rhs, 0)
        return found, [*moved, *[None] * (len(found) - len(x))]


def _difference(x: Tangent, y: Tangent) -> Tangent:
    if y is None:
        return x
    return elementwise.negate(y) if x is None else elementwise.subtract(x, y)
