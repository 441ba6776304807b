"""Functions with derivative rules of the user's own: what custom_jvp and custom_vjp share.

Inside a trace a call of such a function is written down as a composite that names the rules (see
`irax_compiler.ops.control_flow.deferred_rules`); they run when a derivative is taken. Outside of
all traces it is just the function.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from irax.core import source
from irax.core.array import Array
from irax.core.avals import ShapedArray
from irax.core.callables import check_callable
from irax.core.closures import closed_over, used_by, with_captures
from irax.core.dispatch import bind, staged, trace_of
from irax.core.module_builder import ModuleBuilder
from irax.core.refs import functions as ref_functions
from irax.core.refs import refs
from irax.core.settings import rule_logs
from irax.core.tracebacks import api_boundary
from irax.core.tracing import Input, Scope, Tracer, trace_function
from irax.core.trees import array_trees
from irax.core.trees.flattening import FlatFunction, known_inputs, name_of
from irax.transforms.custom_arguments import Arguments, joined
from irax.transforms.custom_refs import RefCall
from irax.transforms.deferred_rules import DeferredRules, First, RuleCall, same_call
from irax.transforms.forwarding import ForwardsDefinitions
from irax_compiler import mlir
from irax_compiler.ops import shape
from irax_compiler.ops.control_flow.deferred_rules import Deferred
from irax_compiler.ops.structured import call_function


class Ruled(ForwardsDefinitions):
    """A function and the arguments that its rules do not differentiate."""

    symbolic_zeros = False
    """True if its rules get and return zeros as `SymbolicZero`s."""
    has_forward_mode = False
    """True if a rule for reverse mode leaves forward mode to the function."""

    @api_boundary
    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        check_callable(fun, self.kind)
        functools.update_wrapper(self, fun)  # pyright: ignore[reportArgumentType]
        self.fun = fun
        given = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else nondiff_argnums
        names = (nondiff_argnames,) if isinstance(nondiff_argnames, str) else nondiff_argnames
        self.nondiff_argnums: tuple[int, ...] = (*given, *(self._number(name) for name in names))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A method keeps its rules; they see the instance as their first argument."""
        return self if instance is None else functools.partial(self, instance)  # pyright: ignore

    @property
    def kind(self) -> str:
        return type(self).__name__

    def _number(self, name: str) -> int:
        """Return the position of the argument of a name."""
        names = list(inspect.signature(self.fun).parameters)
        if name not in names:
            raise ValueError(
                f"{self.kind}: nondiff_argnames={name!r} is no argument of {name_of(self.fun)}; it "
                f"has {', '.join(names) or 'none'}"
            )
        return names.index(name)

    def check_rules(self) -> None:
        """Raises AttributeError for a function that has no rules yet."""
        raise NotImplementedError

    deferred: type[Deferred]
    """The operation that a call is."""

    def operation(self, call: RuleCall) -> Any:
        """Traces the rules; returns the operation that has them."""
        raise NotImplementedError

    def before(self, given: Arguments, arrays: Sequence[Array]) -> tuple[Any, list[Input]]:
        """Return the rule that runs in place of the function, as a function of flat arrays and of
        further inputs; its results begin with those of the function, of the structure `out_tree`.
        """
        raise NotImplementedError

    def of_refs(self, call: RefCall) -> Ruled:
        """Return a function of leaves, with such rules, for a call that has Refs."""
        raise TypeError(
            f"{self.kind}: an argument of {name_of(self.fun)} is a Ref, which only custom_vjp takes"
        )

    @api_boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""
        self.check_rules()
        args = self._positional(args, kwargs)
        rule_logs.notice(self)
        if rule_logs.calls() is not None:
            from irax.transforms import slots

            return slots.called(self, args)
        return staged(
            lambda: self.fun(*args),
            lambda builder: self._write(builder, args),
            [x.value if isinstance(x, refs.Ref) else x for x in used_by(self.fun, args=args)],
        )

    def _write(self, builder: ModuleBuilder, args: tuple[Any, ...]) -> Any:
        """Writes a call that has the rules into a trace."""
        fixed, others = self.split(args)
        if refs.exist():
            boxed = ref_functions.Arguments.of(self.kind, others, {}, with_tokens=True)
            if boxed is not None:
                return self._write_of_refs(builder, fixed, boxed)
        given = Arguments(self.kind, self.fun, fixed, others, self.nondiff_argnums)
        arrays = given.arrays(others)
        again = same_call(self, given)
        if again is not None:
            results = self._bound(builder, again, again.function, arrays)
            return array_trees.tree_unflatten(again.out_tree, results)
        may_go_first = not self.symbolic_zeros and _are_differentiated(arrays)
        if may_go_first and not closed_over(self, fixed):
            return self._write_rule(builder, given, arrays)
        flat = FlatFunction(lambda *others: self.fun(*given.joined(others)), given.in_tree)
        inputs = known_inputs(arrays, given.names, differentiated=False)
        traced = trace_function(flat, inputs, self.kind, name_of(self.fun), scope=Scope.TRACED)
        captured = traced.captures
        outside = list({id(x): x for x in [*captured, *closed_over(self, fixed)]}.values())
        rules = DeferredRules(self, given, arrays, traced, flat.out_tree, outside)
        function = traced.name
        if len(outside) > len(captured):
            function = with_captures(traced, outside, len(arrays), f"{function}.whole")
        builder.kept.append(rules)
        results = self._bound(builder, rules, function, arrays)
        return array_trees.tree_unflatten(flat.out_tree, results)

    def _write_rule(self, builder: ModuleBuilder, given: Arguments, arrays: Sequence[Array]) -> Any:
        """Writes a call whose derivative will be taken: its rule runs, and stands for the function,
        which does not.
        """
        rule, tangents = self.before(given, arrays)
        inputs = known_inputs(arrays, given.names)
        name, count = name_of(self.fun), len(arrays)
        trace = trace_of(arrays)
        assert trace is not None
        with trace.stated():
            traced = trace_function(
                rule, [*inputs, *tangents], self.kind, f"{name}.rule", scope=Scope.TRACED
            )
        whole = with_captures(traced, traced.captures, count, f"{name}.whole")
        results = traced.results[: rule.out_tree.num_leaves]
        directions = [x.aval for x in tangents]
        function = _primal(builder, whole, count + len(traced.captures), directions, results, name)
        primal = replace(traced, name=function, results=results)
        rules = DeferredRules(self, given, arrays, primal, rule.out_tree, traced.captures)
        rules.first = First(rule, whole, builder)
        builder.kept.append(rules)
        found = self._bound(builder, rules, function, arrays)
        return array_trees.tree_unflatten(rule.out_tree, found)

    def _write_of_refs(
        self, builder: ModuleBuilder, fixed: tuple[Any, ...], boxed: ref_functions.Arguments
    ) -> Any:
        join = functools.partial(joined, fixed, self.nondiff_argnums)
        call = RefCall.of(name_of(self.fun), self.fun, join, fixed, self.symbolic_zeros, boxed)
        leaves = boxed.tree.flatten_up_to((boxed.args, {}))
        out, states = self.of_refs(call)._write(builder, tuple(leaves))
        call.write(states, list(boxed.refs.refs))
        return out

    def _bound(
        self, builder: ModuleBuilder, rules: DeferredRules, function: str, arrays: Sequence[Array]
    ) -> list[Array]:
        op = self.deferred(function, function, rules.key, len(arrays))
        results = bind(op, *arrays, *rules.outside, builder=builder)
        return [r.with_weak_type(a.weak_type) for r, a in zip(results, rules.results, strict=True)]

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return all arguments by position, with defaults filled in, but for those that a partial
        fills in.
        """
        if isinstance(self.fun, functools.partial) and not kwargs:
            return args
        try:
            bound = inspect.signature(self.fun).bind(*args, **kwargs)
        except ValueError:  # a builtin without a signature
            return args
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(
                f"{self.kind}: {name_of(self.fun)} was called with keyword-only arguments "
                f"{', '.join(bound.kwargs)}; its rules know arguments by position alone"
            )
        return bound.args

    def split(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The arguments that are not differentiated, and the others."""
        numbers = {
            n % len(args) if -len(args) <= n < len(args) else n for n in self.nondiff_argnums
        }
        if any(not 0 <= n < len(args) for n in numbers):
            raise ValueError(
                f"{self.kind}: nondiff_argnums={self.nondiff_argnums} is out of range: "
                f"{name_of(self.fun)} was called with {len(args)} arguments"
            )
        fixed = tuple(args[n] for n in sorted(numbers))
        return fixed, tuple(a for n, a in enumerate(args) if n not in numbers)


def _are_differentiated(arrays: Sequence[Array]) -> bool:
    """Return True if the trace that a call belongs to takes a derivative of its arguments."""
    trace = trace_of(arrays)
    if trace is None or trace.scope is not Scope.OWN:
        return False
    own = [x for x in arrays if isinstance(x, Tracer) and x.home is trace]
    return any(trace.has_derivative(x.value) for x in own)


def _primal(
    builder: ModuleBuilder,
    rule: str,
    num_operands: int,
    directions: Sequence[ShapedArray],
    results: Sequence[ShapedArray],
    name: str,
) -> str:
    """The name of a function that returns the first results of a rule, which it gives zeros as the
    tangents that follow its operands.
    """
    functions = mlir.Functions(builder.module)
    types = [x.type for x in mlir.arguments(functions[rule])][:num_operands]
    unique = builder.unique_name(f"{name}.primal")
    with source.user_location():
        function = mlir.new_function(builder.module, unique, types, mlir.current_location())
        with mlir.InsertionPoint(mlir.body(function)):
            zeros = [shape.Constant(np.zeros(a.shape, a.dtype))() for a in directions]
            found = call_function(functions, rule, [*mlir.arguments(function), *zeros])
    mlir.finish_function(function, found[: len(results)])
    return unique
