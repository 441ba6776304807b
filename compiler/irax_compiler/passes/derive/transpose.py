"""Transposition: adds the transpose of a linear function, from cotangents of the results to
cotangents of the arguments. Reverse mode is `linearize` followed by it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from operator import not_
from typing import Any, ClassVar

from irax_compiler import effects, mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, shape_of
from irax_compiler.ops.callback import Callback
from irax_compiler.ops.core import (
    Linear,
    Op,
    UnsupportedOp,
    zeros_like,
)
from irax_compiler.ops.derived import Transposed
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.ops.shape import reshape
from irax_compiler.ops.structured import Call
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
    walk,
)
from irax_compiler.passes.derive.cotangents import Choice, Cotangent, Cotangents
from irax_compiler.passes.derive.jvp import active_arguments, named_arguments
from irax_compiler.passes.derive.linearity import Dependents, Linearity
from irax_compiler.passes.derive.separation import Separation
from irax_compiler.sizes import is_symbolic

FEW = 64
"""The operations of a function that is transposed in the place of its calls."""


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
        self._short_functions: dict[str, Sequence[Operation] | None] = {}
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
        cotangents = Cotangents()
        with InsertionPoint(mlir.body(function)), mlir.named("transpose", source.location):
            for value, ct in zip(given, received[len(known) :], strict=True):
                cotangents.add(value, Cotangent(ct))
            mlir.clone_all(moving.others, env)
            for operation in reversed(moving.operations):
                self._transpose(operation, env, moving.values, cotangents)
            found = [None if ct is None else ct.applied() for ct in map(cotangents.take, wanted)]
            results = [
                zeros_like(a) if ct is None and name == self.instantiate else ct
                for a, ct in zip(wanted, found, strict=True)
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
        cotangents: Cotangents,
    ) -> None:
        given = [cotangents.take(v) for v in operation.results]
        if not any(ct is not None for ct in given):
            _refuse_effects(operation)
            return
        if operation.name == Call.name and self._has_selections(operation, given):
            self._go_through(operation, env, unknown, given, cotangents)
            return
        op = rule(operation, "transpose")
        values = inputs(operation)
        operands = [Linear(v.type) if v in unknown else env[v] for v in values]
        with asking(operation), mlir.named("transpose", operation.location):
            _check_linear(op, operands)
            for value, ct in zip(values, self._of_operands(op, given, operands), strict=True):
                if ct is not None:
                    cotangents.add(value, ct)

    def _has_selections(self, call: Operation, given: Sequence[Cotangent | None]) -> bool:
        """True if a call is of a short function, and selections are in it or in the cotangents."""
        operations = self._short(mlir.callee(call))
        if operations is None:
            return False
        selects = any(traits_of(operation).selects for operation in operations)
        return selects or any(ct is not None and ct.choices for ct in given)

    def _short(self, name: str) -> Sequence[Operation] | None:
        """Return the operations of a function, those of functions that it calls included, if they
        are few and none is structured.
        """
        if name not in self._short_functions:
            found: list[Operation] | None = []
            for operation in walk(mlir.body(self.functions[name])):
                inner: Sequence[Operation] | None = [operation]
                if operation.name == Call.name:
                    inner = self._short(mlir.callee(operation))
                elif not traits_of(operation).is_pure:
                    inner = None
                if inner is None or len(found) + len(inner) > FEW:
                    found = None
                    break
                found += inner
            self._short_functions[name] = found
        return self._short_functions[name]

    def _go_through(
        self,
        call: Operation,
        env: dict[Value, Value],
        unknown: set[Value],
        given: Sequence[Cotangent | None],
        cotangents: Cotangents,
    ) -> None:
        """Transpose the operations of a function in the place of its call, so that selections
        around the call go behind them, and those inside behind what is around it.
        """
        name, values = mlir.callee(call), inputs(call)
        arguments = mlir.arguments(self.functions[name])
        pairs = list(zip(arguments, values, strict=True))
        inside = {a: env[v] for a, v in pairs if v not in unknown}
        moving = self._linearity.dependents(name, [v in unknown for v in values])
        for value, ct in zip(returned(self.functions[name]), given, strict=True):
            if ct is not None and value in moving.values:
                cotangents.add(value, ct)
        mlir.clone_all(moving.others, inside)
        for operation in reversed(moving.operations):
            self._transpose(operation, inside, moving.values, cotangents)
        for argument, value in pairs:
            ct = cotangents.take(argument)
            if ct is not None:
                cotangents.add(value, ct)

    def _of_operands(
        self, op: Op, given: Sequence[Cotangent | None], operands: Sequence[Value | Linear]
    ) -> Sequence[Cotangent | None]:
        """Return the cotangents of an operation's operands, for those of its results."""
        ct = given[0]
        choices = None if ct is None else self._choices_behind(op, ct, operands)
        if ct is None or choices is None:
            applied = [None if ct is None else ct.applied() for ct in given]
            found = _sized(op.transpose(self, applied, operands), operands)
            return [None if ct is None else Cotangent(ct) for ct in found]
        if op.selects:
            predicate, *branches = operands
            assert isinstance(predicate, Value)
            found = [
                Cotangent(ct.value, (*choices, Choice(predicate, taken))) for taken in (True, False)
            ]
            if any(map(is_symbolic, shape_of(ct.value))):
                # IREE does not compile broadcasts of predicates that are made here for all sizes.
                found = [Cotangent(x.applied()) for x in found]
            pairs = zip(branches, found, strict=True)
            return [None, *(x if isinstance(branch, Linear) else None for branch, x in pairs)]
        found = _sized(op.transpose(self, [ct.value], operands), operands)
        return [None if ct is None else Cotangent(ct, choices) for ct in found]

    def _choices_behind(
        self, op: Op, ct: Cotangent, operands: Sequence[Value | Linear]
    ) -> Sequence[Choice] | None:
        """Return the choices that apply to the cotangents of an operation's operands, if those of
        its result may be applied after its transpose, and not before.
        """
        shape = shape_of(ct.value)
        if op.elementwise:
            alike = all(shape_of(x) == shape for x in operands if isinstance(x, Linear))
            return ct.choices if alike else None
        if (
            op.is_pure
            and op.num_results == 1
            and not any(shape_of(c.predicate) for c in ct.choices)
        ):
            return ct.choices
        if not op.moves or len(operands) != 1:
            return None
        moved = [self._moved(op, choice, shape_of(operands[0]), shape) for choice in ct.choices]
        return None if None in moved else [choice for choice in moved if choice is not None]

    def _moved(self, op: Op, choice: Choice, to: Sequence[Any], of: Sequence[Any]) -> Choice | None:
        """Return a choice for the operand of an operation that moves elements, if there is one."""
        predicate = choice.predicate
        if not shape_of(predicate):
            return choice
        if math.prod(to) == math.prod(of):
            operand = Linear(mlir.tensor_type(to, mlir.dtype_of(predicate)))
            (found,) = op.transpose(self, [predicate], [operand])
            assert found is not None
            return Choice(found, choice.taken)
        owner = mlir.definition(predicate)
        if owner is None or not traits_of(owner).stretches or read(owner) != op:
            return None
        (found,) = owner.operands
        return Choice(found, choice.taken) if shape_of(found) == tuple(to) else None


def _sized(
    cotangents: Sequence[Value | None], operands: Sequence[Value | Linear]
) -> Sequence[Value | None]:
    """Give cotangents the symbolic sizes of their operands, for which a rule may have found other
    expressions, such as (2 * n + 1) // 2 for n.
    """
    return [
        ct if ct is None or not any(map(is_symbolic, shape_of(x))) else reshape(ct, shape_of(x))
        for ct, x in zip(cotangents, operands, strict=True)
    ]


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
