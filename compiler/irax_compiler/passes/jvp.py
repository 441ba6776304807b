"""Forward-mode differentiation: @f -> @f.jvp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from irax_compiler import effects, mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, is_inexact
from irax_compiler.ops.core import Tangent, UnsupportedOp, zeros_like
from irax_compiler.ops.derived import Differentiated
from irax_compiler.ops.structured import StructuredOp
from irax_compiler.passes.core import (
    Deriver,
    Pass,
    PassError,
    find_function,
    in_context,
    inputs,
    publish,
    register_pass,
    returned,
    rule,
    walk,
)


@register_pass
@dataclass
class Jvp(Pass):
    """Adds @f.jvp, which takes the arguments of @f and tangents of those in `wrt`, and returns the
    results of @f and the tangents of those results that can have one (float and complex).
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
    """Adds the forward-mode derivative of a function to its module, as a private function.

    Args:
        module: the module.
        func: the function's name.
        wrt: the arguments that have a tangent; by default all those of inexact types.
        results: for each result, True if its tangent is wanted; by default all of inexact types.
    """
    active = active_arguments(find_function(module, func), wrt)
    outputs = {func: results or differentiable_results(module, func)}
    return JvpDeriver(module, outputs).function(func, active)


def active_arguments(function: Operation, wrt: Sequence[int] | None) -> tuple[bool, ...]:
    """Which arguments `wrt` names; all those with a float or complex type when it is None.

    Raises PassError for an index out of range or an argument that has no derivative.
    """
    arguments = mlir.arguments(function)
    name = mlir.function_name(function)
    if wrt is None:
        return tuple(is_inexact(a) for a in arguments)
    for index in wrt:
        if not 0 <= index < len(arguments):
            raise PassError(f"wrt={index}: @{name} has {len(arguments)} arguments, counted from 0")
        if not is_inexact(arguments[index]):
            raise PassError(
                f"wrt={index}: argument {index} of @{name} has type {arguments[index].type}, which "
                "has no derivative; expected a floating-point or complex one"
            )
    return tuple(i in wrt for i in range(len(arguments)))


def differentiable_results(module: Module, name: str) -> tuple[bool, ...]:
    """Which results of a function can have a tangent: those of float and complex types."""
    return tuple(map(is_inexact, returned(find_function(module, name))))


def fix_outputs(
    results: Sequence[Value], tangents: Sequence[Tangent], wanted: Sequence[bool]
) -> list[Tangent]:
    """The tangents of the wanted results: zeros where there is none, None for unwanted ones."""
    return [
        (zeros_like(r) if t is None else t) if wants else None
        for r, t, wants in zip(results, tangents, wanted, strict=True)
    ]


class JvpDeriver(Deriver[Differentiated]):
    """Derives @f.jvp. Those results get a tangent that depend on an active argument; for functions
    named in `outputs`, those which it marks, zeros if need be.
    """

    suffix = "jvp"

    def __init__(self, module: Module, outputs: Mapping[str, Sequence[bool]] | None = None) -> None:
        super().__init__(module)
        self.outputs = outputs or {}

    def derive(self, source: Operation, pattern: tuple[Any, ...]) -> Differentiated:
        name = mlir.function_name(source)
        function, (results, tangents) = differentiate(
            self, source, pattern, f"{name}.{self.suffix}", split=False
        )
        block = mlir.body(function)
        if name in self.outputs:
            with InsertionPoint(block), source.location:
                tangents = fix_outputs(results, tangents, self.outputs[name])
        mlir.finish_function(function, [*results, *(t for t in tangents if t is not None)])
        effects.remove_dead_operations(block)
        has_tangent = tuple(t is not None for t in tangents)
        return Differentiated(mlir.function_name(function), pattern, has_tangent)


def differentiate(
    transform: Deriver,
    source: Operation,
    active: Sequence[bool],
    name: str,
    split: bool,
) -> tuple[Operation, tuple[list[Value], list[Tangent]]]:
    """A function, not yet ended, of the arguments of `source` and the active ones' tangents, which
    computes its results and their tangents; and those values.

    With `split`, each operation in it is either independent of the tangents or linear in them.
    """
    arguments = mlir.arguments(source)
    types = [a.type for a in arguments]
    types += [a.type for a, is_active in zip(arguments, active, strict=True) if is_active]
    function = transform.new_function(name, types, source.location)
    block = mlir.body(function)
    given = mlir.arguments(function)
    primals = dict(zip(arguments, given, strict=False))
    tangent_inputs = iter(given[len(arguments) :])
    tangents = {
        a: next(tangent_inputs) for a, is_active in zip(arguments, active, strict=True) if is_active
    }
    with InsertionPoint(block):
        for operation in walk(mlir.body(source)):
            _differentiate(transform, operation, primals, tangents, split)
    outputs = returned(source)
    return function, ([primals[v] for v in outputs], [tangents.get(v) for v in outputs])


def _differentiate(
    transform: Deriver,
    operation: Operation,
    primals: dict[Value, Value],
    tangents: dict[Value, Value],
    split: bool,
) -> None:
    operands = inputs(operation)
    results = list(operation.results)
    active = [tangents.get(v) for v in operands]
    if not any(t is not None for t in active):
        primals.update(zip(results, mlir.clone(operation, primals), strict=True))
        return
    op = rule(operation, "jvp")
    values = [primals[v] for v in operands]
    marked = mlir.named("jvp", operation.location)
    try:
        if isinstance(op, StructuredOp):
            with marked:
                through = op.linearize_through if split else op.jvp_through
                outputs, out_tangents = through(transform, values, active)
        elif not any(is_inexact(r) for r in results):
            outputs: Sequence[Value] = mlir.clone(operation, primals)
            out_tangents: Sequence[Tangent] = [None] * len(results)
        else:
            with marked:
                both = op.jvp_with_results(values, active)
            if both is None:
                outputs = mlir.clone(operation, primals)
                with marked:
                    out_tangents = op.jvp(values, active, outputs)
            else:
                outputs, out_tangents = both
    except UnsupportedOp as error:
        raise in_context(error, operation) from None
    primals.update(zip(results, outputs, strict=True))
    for result, tangent in zip(results, out_tangents, strict=True):
        if tangent is not None:
            tangents[result] = tangent
