"""Transposition: adds the transpose of a linear function, from cotangents of the results to
cotangents of the arguments. Reverse mode is `linearize` followed by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from operator import not_
from typing import Any, ClassVar

from irax_compiler import effects, mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.ops.callback import Callback
from irax_compiler.ops.core import (
    Linear,
    Op,
    Tangent,
    UnsupportedOp,
    add_tangents,
    zeros_like,
)
from irax_compiler.ops.derived import Transposed
from irax_compiler.passes.core import (
    Deriver,
    Pass,
    asking,
    find_function,
    in_context,
    inputs,
    publish,
    register_pass,
    returned,
    rule,
)
from irax_compiler.passes.derive.jvp import active_arguments, named_arguments
from irax_compiler.passes.derive.linearity import Dependents, Linearity
from irax_compiler.passes.derive.separation import Separation


@register_pass
@dataclass
class Transpose(Pass):
    """Adds the transpose of @f with respect to the arguments in `wrt`, in which @f must be linear:
    a function of the other arguments and the results' cotangents. It is called @g.bwd where @f is
    @g.lin, and @f.transpose otherwise.
    """

    name: ClassVar[str] = "transpose"
    func: str = "main"
    wrt: tuple[int, ...] | None = None

    def run(self, module: Module) -> None:
        publish(module, derive_transpose(module, self.func, self.wrt).name)


def derive_transpose(
    module: Module, func: str = "main", wrt: Sequence[int] | None = None
) -> Transposed:
    """Add the transpose of a function to its module, as a private function.

    Args:
        module: the module.
        func: the function's name.
        wrt: the arguments in which it is linear; by default all those of inexact types. Each has a
            cotangent, zeros if need be.
    """
    function = find_function(module, func)
    linear = active_arguments(function, None) if wrt is None else named_arguments(function, wrt)
    pattern = (linear, (True,) * len(returned(function)))
    return TransposeDeriver(module, instantiate=func).function(func, pattern)


class TransposeDeriver(Deriver[Transposed]):
    """Derives transposes for patterns (which arguments are linear, which results have a cotangent).
    Arguments with zero cotangents get none, except in function `instantiate`.
    """

    def __init__(self, module: Module, instantiate: str | None = None) -> None:
        super().__init__(module)
        self.instantiate = instantiate
        self._linearity = Linearity(self.functions)
        self._separation = Separation(module)

    def derive(self, source: Operation, pattern: tuple[Any, ...]) -> Transposed:
        linear, name = pattern[0], mlir.function_name(source)
        moving = self._linearity.dependents(name, linear)
        if not moving.has_mixed():
            return self._derive(name, source, moving, pattern)
        self._separation.refresh()
        function = self._separation.apart(source, linear, f"{name}.apart")
        self.refresh()
        moving = Dependents(mlir.body(function), compress(mlir.arguments(function), linear))
        derived = self._derive(name, function, moving, pattern)
        for functions in (self.functions, self._separation.functions):
            del functions[mlir.function_name(function)]
        function.erase()
        return derived

    def _derive(
        self, name: str, source: Operation, moving: Dependents, pattern: tuple[Any, ...]
    ) -> Transposed:
        """The transpose of function `name`, which is `source`, or does the same."""
        linear, has_cotangent = pattern
        arguments = mlir.arguments(source)
        wanted = list(compress(arguments, linear))
        known = list(compress(arguments, map(not_, linear)))
        given = list(compress(returned(source), has_cotangent))
        transposed = (
            f"{name.removesuffix('.lin')}.bwd" if name.endswith(".lin") else f"{name}.transpose"
        )
        function = self.new_function(
            transposed, [v.type for v in [*known, *given]], source.location
        )
        received = mlir.arguments(function)
        env = dict(zip(known, received, strict=False))
        cotangents: dict[Value, Value] = {}
        with InsertionPoint(mlir.body(function)), mlir.named("transpose", source.location):
            for value, ct in zip(given, received[len(known) :], strict=True):
                accumulate(cotangents, value, ct)
            mlir.clone_all(moving.others, env)
            for operation in reversed(moving.operations):
                self._transpose(operation, env, moving.values, cotangents)
            results = [
                zeros_like(a)
                if name == self.instantiate and a not in cotangents
                else cotangents.get(a)
                for a in wanted
            ]
        mlir.finish_function(function, [ct for ct in results if ct is not None])
        effects.remove_dead_operations(mlir.body(function))
        present = iter(ct is not None for ct in results)
        return Transposed(
            mlir.function_name(function),
            linear,
            has_cotangent,
            tuple(next(present) if is_linear else False for is_linear in linear),
        )

    def _transpose(
        self,
        operation: Operation,
        env: dict[Value, Value],
        unknown: set[Value],
        cotangents: dict[Value, Value],
    ) -> None:
        given: list[Tangent] = [cotangents.pop(v, None) for v in operation.results]
        if not any(ct is not None for ct in given):
            _refuse_effects(operation)
            return
        op = rule(operation, "transpose")
        values = inputs(operation)
        operands = [Linear(v.type) if v in unknown else env[v] for v in values]
        with asking(operation), mlir.named("transpose", operation.location):
            _check_linear(op, operands)
            found = op.transpose(self, given, operands)
            for value, ct in zip(values, found, strict=True):
                if ct is not None:
                    accumulate(cotangents, value, ct)


def _check_linear(op: Op, operands: Sequence[Value | Linear]) -> None:
    """Raise UnsupportedOp if an op is not linear in the `Linear` operands together."""
    linear = [i for i, x in enumerate(operands) if isinstance(x, Linear)]
    if not op.is_linear_in(linear):
        which = f"operand {linear[0]}" if len(linear) == 1 else "two operands together"
        raise UnsupportedOp(f"{op.name} is not linear in {which}")


def _refuse_effects(operation: Operation) -> None:
    """Refuse operations with side effects that have no transpose. Operations that nothing uses are
    dropped, and with them those that only inspect values, such as prints; no other side effect may
    be lost.
    """
    for effect in effects.effects(operation):
        op = rule(effect, "transpose")
        if isinstance(op, Callback) and op.kind == "io":
            raise in_context(op.not_differentiable("transpose"), effect)


def accumulate(cotangents: dict[Value, Value], value: Value, ct: Value) -> None:
    """Add to the cotangent of a value, which is zero at first."""
    total = add_tangents(cotangents.get(value), ct)
    assert total is not None
    cotangents[value] = total
