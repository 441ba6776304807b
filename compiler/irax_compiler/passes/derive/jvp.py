"""Forward-mode differentiation: adds @f.jvp, which computes results and tangents."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from irax_compiler import effects, mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, is_inexact
from irax_compiler.ops import marks
from irax_compiler.ops.core import Bits, Op, Tangent, add_tangents, zeros_like
from irax_compiler.ops.derived import Derived, Differentiated, Linearized
from irax_compiler.ops.float_bits import Held, of_results
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.ops.structured import Call, call_function, inlined, scatter
from irax_compiler.ops.transformation import DeferredDifferentiation
from irax_compiler.passes.core import (
    D,
    Deriver,
    Pass,
    PassError,
    asking,
    find_function,
    inputs,
    publish,
    reached,
    register_pass,
    returned,
    rule,
    walk,
)


@register_pass
@dataclass
class Jvp(Pass):
    """Adds @f.jvp, which takes the arguments of @f and tangents of those in `wrt`, and returns the
    results of @f and the tangents of the float and complex ones.
    """

    name: ClassVar[str] = "jvp"
    func: str = "main"
    wrt: tuple[int, ...] | None = None

    def run(self, module: Module) -> None:
        publish(module, derive_jvp(module, self.func, self.wrt).name)


def derive_jvp(
    module: Module,
    func: str = "main",
    wrt: Sequence[int] | None = None,
    results: Sequence[bool] | None = None,
) -> Differentiated:
    """Add the forward-mode derivative of a function to its module, as a private function.

    Args:
        module: the module.
        func: the function's name.
        wrt: the arguments that have a tangent; by default all those of inexact types.
        results: for each result, True if its tangent is wanted; by default all of inexact types.
    """
    return JvpDeriver.derived(module, func, wrt, results)


def _derive_in_open_module(name: str, wrt: Sequence[int]) -> Differentiated:
    return derive_jvp(mlir.open_module(), name, wrt)


def active_arguments(function: Operation, wrt: Sequence[int] | None) -> tuple[bool, ...]:
    """Return which arguments `wrt` names; if it is None, all of a float or complex type.

    Raises PassError for an index out of range or an argument that has no derivative.
    """
    arguments = mlir.arguments(function)
    if wrt is None:
        return tuple(is_inexact(a) for a in arguments)
    active = named_arguments(function, wrt)
    for index in wrt:
        if not is_inexact(arguments[index]):
            name = mlir.function_name(function)
            raise PassError(
                f"wrt={index}: argument {index} of @{name} has type {arguments[index].type}, which "
                "has no derivative; expected a floating-point or complex one"
            )
    return active


def named_arguments(function: Operation, wrt: Sequence[int]) -> tuple[bool, ...]:
    """Return which arguments `wrt` names. Raises PassError for an index out of range."""
    count = len(mlir.arguments(function))
    for index in wrt:
        if not 0 <= index < count:
            name = mlir.function_name(function)
            raise PassError(f"wrt={index}: @{name} has {count} arguments, counted from 0")
    return tuple(i in wrt for i in range(count))


def differentiable_results(module: Module, name: str) -> tuple[bool, ...]:
    """Return which results of a function can have a tangent: those of float and complex types."""
    return tuple(map(is_inexact, returned(find_function(module, name))))


def fix_outputs(
    results: Sequence[Value], tangents: Sequence[Tangent], wanted: Sequence[bool]
) -> list[Tangent]:
    """Return the tangents of the wanted results, with zeros for absent ones; None for unwanted
    ones.
    """
    return [
        (zeros_like(r) if t is None else t) if wants else None
        for r, t, wants in zip(results, tangents, wanted, strict=True)
    ]


def _reads_bits(function: Operation) -> bool:
    """True if a function reads the bits of a float as something else."""
    return any(
        traits_of(o).float_bits is Bits.READ and is_inexact(o.operands[0])
        for o in mlir.operations_in(function)
    )


def _has_integers(call: Operation) -> bool:
    """True if integers that may hold bits are operands or results of a call."""
    return any(map(_may_hold_bits, [*call.operands, *call.results]))


def _may_hold_bits(value: Value) -> bool:
    return mlir.dtype_of(value).kind in "iu"


class LostDerivative(UserWarning):
    """A derivative that was taken as zero because nothing is known of it."""


def _warn_of_lost(module: Module, derived: Derived) -> None:
    """Warn if derived functions have zeros in the place of tangents that were lost, where a tangent
    that is wanted depends on them.
    """
    functions = mlir.functions(module)

    def named(name: str) -> list[str]:
        found = mlir.references(functions[name])
        return [f for o in found for f in mlir.named_functions(o)]

    start = [derived.linear if isinstance(derived, Linearized) else derived.name]
    for name in reached(start, named):
        for operation in mlir.references(functions[name]):
            if isinstance(read(operation), marks.LostDerivative):
                warnings.warn(
                    f"the derivative at {operation.location} is taken as zero: a float is computed "
                    "there from the bits of another one. Give the function a rule of its own "
                    "(custom_jvp), or put it behind stop_gradient if zero is what you want",
                    LostDerivative,
                    stacklevel=2,
                )


@dataclass
class _Rule:
    """A call of an operation's rule."""

    op: Op
    operation: Operation
    primals: dict[Value, Value]
    """A map from values of the source function to their copies so far."""


class DifferentiationDeriver(Deriver[D]):
    """Derives functions that compute tangents beside results. Results have a tangent if they depend
    on an active argument; for functions in `outputs`, those have one that it marks, which may be
    zeros.
    """

    _rule: _Rule

    def __init__(self, module: Module, outputs: Mapping[str, Sequence[bool]] | None = None) -> None:
        super().__init__(module)
        self.outputs = outputs or {}
        self._readers: dict[str, bool] = {}
        self.has_lost = False
        """True if a tangent was lost on its way through the bits of floats."""

    @classmethod
    def derived(
        cls,
        module: Module,
        func: str,
        wrt: Sequence[int] | None,
        results: Sequence[bool] | None,
    ) -> D:
        """Return the derived form of a function for tangents of the arguments `wrt` and of the
        results that are marked; by default of all that are of inexact types.
        """
        active = active_arguments(find_function(module, func), wrt)
        outputs = {func: results or differentiable_results(module, func)}
        deriver = cls(module, outputs)
        derived = deriver.function(func, active)
        if deriver.has_lost:
            _warn_of_lost(module, derived)
        return derived

    def ask(
        self, op: Op, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        """Apply an op's rule, and return results and tangents."""
        raise NotImplementedError

    def forward_tangents(
        self, name: str, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> Sequence[Tangent]:
        """The tangents of what a function returns, by forward mode."""
        raise NotImplementedError

    def call_rule(
        self, name: str, primals: Sequence[Value], tangents: Sequence[Value], num_results: int
    ) -> tuple[Sequence[Value], Sequence[Value]]:
        """Call a function from primals and tangents to results and their tangents."""
        raise NotImplementedError

    def deferred(self) -> DeferredDifferentiation:
        """Return the forward mode that is applied to functions later."""
        return _derive_in_open_module

    def results(self, op: Op, primals: Sequence[Value]) -> Sequence[Value]:
        """Return the results of the operation whose rule is running, which is copied."""
        rule = self._rule
        assert op is rule.op, f"the rule of {rule.op.name} asks for the results of {op.name}"
        return mlir.clone(rule.operation, rule.primals)

    def differentiated(
        self, source: Operation, active: Sequence[bool], name: str
    ) -> tuple[Operation, list[Value], list[Tangent]]:
        """Build a function from the arguments of `source` and the tangents of active ones to
        results and their tangents; return it and these values.
        """
        source_name = mlir.function_name(source)
        whole = self._with_bits_inside(source)
        if whole is not None:
            source = whole
        arguments = mlir.arguments(source)
        types = [a.type for a in arguments]
        types += [a.type for a, is_active in zip(arguments, active, strict=True) if is_active]
        function = self.new_function(name, types, source.location)
        given = mlir.arguments(function)
        primals = dict(zip(arguments, given, strict=False))
        moving = (a for a, is_active in zip(arguments, active, strict=True) if is_active)
        tangents = dict(zip(moving, given[len(arguments) :], strict=True))
        block = mlir.body(function)
        bits: dict[Value, Held] = {}
        with InsertionPoint(block):
            for operation in walk(mlir.body(source)):
                self._differentiate(operation, primals, tangents)
                self._follow_bits(operation, primals, tangents, bits)
        outputs = returned(source)
        results = [primals[v] for v in outputs]
        found = [tangents.get(v) for v in outputs]
        if source_name in self.outputs:
            with InsertionPoint(block), source.location:
                found = fix_outputs(results, found, self.outputs[source_name])
        mlir.finish_function(function, [*results, *(t for t in found if t is not None)])
        effects.remove_dead_operations(block)
        if whole is not None:
            del self.functions[mlir.function_name(whole)]
            whole.erase()
        return function, results, found

    def _with_bits_inside(self, source: Operation) -> Operation | None:
        """Return a function like another one without calls, if integers that hold the bits of
        floats go into calls of it, or come out of them.
        """
        calls = [o for o in walk(mlir.body(source)) if o.name == Call.name]
        if not any(map(_has_integers, calls)):
            return None
        name = mlir.function_name(source)
        reads = _reads_bits(source)
        callees = (self.functions[mlir.callee(o)] for o in calls if _has_integers(o))
        if not reads and not any(map(self._reads_bits_inside, callees)):
            return None
        types = [a.type for a in mlir.arguments(source)]
        with source.location:
            whole = self.build_function(
                f"{name}.whole", types, lambda *given: inlined(self.functions, name, given)
            )
        return self.functions[whole]

    def _reads_bits_inside(self, function: Operation) -> bool:
        """True if a function, or one that it calls, reads the bits of a float."""
        name = mlir.function_name(function)
        if name not in self._readers:
            self._readers[name] = False  # while it is looked at: recursion is refused elsewhere
            inner = [f for o in mlir.references(function) for f in mlir.named_functions(o)]
            self._readers[name] = _reads_bits(function) or any(
                self._reads_bits_inside(self.functions[f]) for f in inner
            )
        return self._readers[name]

    def _hides_bits(self, operation: Operation) -> bool:
        """True if integers that an operation returns may hold the bits of floats in its regions or
        functions.
        """
        if not any(map(_may_hold_bits, operation.results)):
            return False
        if len(operation.regions) and _reads_bits(operation):
            return True
        inside = [operation, *mlir.references(operation)] if len(operation.regions) else [operation]
        named = {f for o in inside for f in mlir.named_functions(o)}
        return any(self._reads_bits_inside(self.functions[f]) for f in named if f in self.functions)

    def _follow_bits(
        self,
        operation: Operation,
        primals: dict[Value, Value],
        tangents: dict[Value, Value],
        bits: dict[Value, Held],
    ) -> None:
        """Note what an operation's results hold of the bits of floats, and add the tangents of
        results that are floats again.
        """
        operands, results = inputs(operation), list(operation.results)
        held = [bits.get(v) for v in operands]
        traits = traits_of(operation)
        moving = [tangents.get(v) for v in operands]
        active = [v for v, t in zip(operands, moving, strict=True) if t is not None]
        if active and not any(held) and self._hides_bits(operation):
            lost = Held(tangents[active[0]], primals[active[0]], is_lost=True)
            bits.update((r, lost) for r in results if _may_hold_bits(r))
            return
        starts = traits.float_bits is Bits.READ and active
        if not starts and not any(held):
            return
        op = rule(operation, "jvp")
        with asking(operation), mlir.named("jvp", operation.location):
            given = [primals[v] for v in operands]
            found = of_results(op, given, held, moving, [primals[r] for r in results])
            for result, holds in zip(results, found, strict=True):
                if holds is None:
                    continue
                if not is_inexact(result):
                    bits[result] = holds
                    continue
                self.has_lost = self.has_lost or holds.is_lost_in(result)
                tangent = add_tangents(tangents.get(result), holds.tangent_of(primals[result]))
                assert tangent is not None
                tangents[result] = tangent

    def _differentiate(
        self,
        operation: Operation,
        primals: dict[Value, Value],
        tangents: dict[Value, Value],
    ) -> None:
        operands = inputs(operation)
        results = list(operation.results)
        active = [tangents.get(v) for v in operands]
        if not any(t is not None for t in active):
            primals.update(zip(results, mlir.clone(operation, primals), strict=True))
            return
        op = rule(operation, "jvp")
        if op.is_pure and not any(is_inexact(r) for r in results):
            primals.update(zip(results, mlir.clone(operation, primals), strict=True))
            return
        self._rule = _Rule(op, operation, primals)
        with asking(operation), mlir.named("jvp", operation.location):
            outputs, moved = self.ask(op, [primals[v] for v in operands], active)
        primals.update(zip(results, outputs, strict=True))
        tangents.update((r, t) for r, t in zip(results, moved, strict=True) if t is not None)


class JvpDeriver(DifferentiationDeriver[Differentiated]):
    """Derives @f.jvp."""

    def derive(self, source: Operation, pattern: tuple[Any, ...]) -> Differentiated:
        name = f"{mlir.function_name(source)}.jvp"
        function, _, tangents = self.differentiated(source, pattern, name)
        has_tangent = tuple(t is not None for t in tangents)
        return Differentiated(mlir.function_name(function), pattern, has_tangent)

    def ask(
        self, op: Op, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        return op.jvp(self, primals, tangents)

    def forward_tangents(
        self, name: str, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> Sequence[Tangent]:
        derived = self.function(name, tuple(t is not None for t in tangents))
        active = [t for t in tangents if t is not None]
        found = call_function(self.functions, derived.name, [*primals, *active])
        return scatter(found[len(derived.results) :], derived.results)

    def call_rule(
        self, name: str, primals: Sequence[Value], tangents: Sequence[Value], num_results: int
    ) -> tuple[Sequence[Value], Sequence[Value]]:
        found = call_function(self.functions, name, [*primals, *tangents])
        return found[:num_results], found[num_results:]
