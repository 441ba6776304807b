"""Ops that hold or name other computations: func.call, and ops that are defined by other ops.

Their rules have the transformation derive those computations too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypeVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Type, Value
from irax_compiler.ops import shape
from irax_compiler.ops.core import Axis, Linear, Memory, Op, Tangent, Typed, full, zeros_like
from irax_compiler.ops.evaluation import evaluator as evaluate
from irax_compiler.ops.links import Use
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.transformation import (
    Batching,
    Dependence,
    Differentiation,
    Evaluation,
    Linearization,
    Transformation,
    Transposition,
)


class StructuredOp(Op):
    """An op that holds or names functions, which its rules have transformed."""

    is_pure = False
    joins_operands = False
    linear_in = None

    def dependent_results(
        self, dependence: Dependence, flags: Sequence[bool]
    ) -> Sequence[bool] | None:
        """For each result, True if it depends on one of the operands that `flags` marks, of which
        there is one; None if all do. One that is exact has a rule for `separate`.
        """
        return None

    def separate(
        self, transform: Linearization, known: Sequence[Value], moving: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        """Compute the results that depend on no moving operand, and those that do, apart: return
        both, with any value in the place of a dependent result among the first ones. In `known`,
        operands that are moving are zeros.

        As by `linearize`, there are two parts, of which the second reads residuals. Only,
        `transform.function` splits functions instead of differentiating them.
        """
        return self.linearize(transform, known, moving)


@register_class
@dataclass(frozen=True)
class Call(StructuredOp):
    """A call of a function of the same module."""

    name = "func.call"
    num_results: ClassVar[int] = -1
    memory = Memory.ANY
    callee: str
    types: tuple[Type, ...]

    def attributes(self):
        return {"callee": mlir.symbol(self.callee)}

    def result_types(self, operands: Sequence[Value]):
        return self.types

    @classmethod
    def read(cls, operation: Operation) -> Call:
        callee: Any = operation.attributes["callee"]
        return cls(callee.value, tuple(r.type for r in operation.results))

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        derived = transform.function(self.callee, tuple(t is not None for t in tangents))
        active = [t for t in tangents if t is not None]
        tangent_types = tuple(t for t, a in zip(self.types, derived.results, strict=True) if a)
        call = Call(derived.name, self.types + tangent_types)
        results = call.build([*primals, *active])
        count = len(self.types)
        return results[:count], scatter(results[count:], derived.results)

    def linearize(
        self, transform: Linearization, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        derived = transform.function(self.callee, tuple(t is not None for t in tangents))
        forward = call_function(transform.functions, derived.name, primals)
        count = len(self.types)
        active = [t for t in tangents if t is not None]
        # A residual that is an operand is at hand here: a loop need not keep its constants by row.
        residuals = [
            primals[origin] if isinstance(origin, int) else value
            for origin, value in zip(derived.residuals, forward[count:], strict=True)
        ]
        tangents_out = (
            call_function(transform.functions, derived.linear, [*residuals, *active])
            if any(derived.results)
            else ()
        )
        return forward[:count], scatter(tangents_out, derived.results)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        pattern = (
            tuple(isinstance(x, Linear) for x in operands),
            tuple(ct is not None for ct in cotangents),
        )
        derived = transform.function(self.callee, pattern)
        known = [x for x in operands if not isinstance(x, Linear)]
        active = [ct for ct in cotangents if ct is not None]
        return scatter(
            call_function(transform.functions, derived.name, [*known, *active]), derived.results
        )

    def dependent_results(self, dependence: Dependence, flags: Sequence[bool]) -> Sequence[bool]:
        return dependence.results(self.callee, flags)

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        derived = transform.function(self.callee, tuple(axes))
        return call_function(transform.functions, derived.name, operands), derived.results

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        return call(self.callee, operands)


class DefinedOp(StructuredOp):
    """An op that is defined by simpler ops. It has their rules, unless it overrides them."""

    joins_operands = True

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        """Build the definition."""
        raise NotImplementedError

    def tells_by_definition(self, use: Use) -> bool:
        """True if the definition is short, and tells more of a value than the op's own rules."""
        return False

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        return transform.ask(definition_call(self, transform, primals), primals, tangents)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return definition_call(self, transform, operands).transpose(transform, cotangents, operands)

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        lanes = [Linear(_without(x.type, a)) for x, a in zip(operands, axes, strict=True)]
        return definition_call(self, transform, lanes).batch(transform, operands, axes)

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Any:
        results = evaluate_definition(self, operands)
        return results[0] if self.num_results == 1 else results


def definition_call(op: Op, transform: Transformation, operands: Sequence[Typed]) -> Call:
    """A call of a function that does what an op is defined to do."""
    name = transform.definition(op, tuple(x.type for x in operands))
    results = mlir.terminator(mlir.body(transform.functions[name])).operands
    return Call(name, tuple(v.type for v in results))


def _without(type_: Any, axis: Axis) -> Type:
    """A tensor type without one of its dimensions."""
    if axis is None:
        return type_
    sizes = [n for d, n in enumerate(mlir.shape_of_type(type_)) if d != axis]
    return mlir.tensor_type(tuple(sizes), mlir.dtype_of_type(type_))


def evaluate_definition(op: Any, operands: Sequence[Any]) -> Sequence[np.ndarray]:
    """The results of an op by its `define`, for concrete operands."""
    arrays = [np.asarray(x) for x in operands]
    types = tuple(mlir.tensor_type(x.shape, x.dtype) for x in arrays)
    return _definition(op, types)("main", arrays)


@lru_cache(maxsize=1024)
def _definition(op: Any, types: tuple[Any, ...]) -> evaluate.Evaluator:
    """Return an evaluator of an op's definition for operands of the given types, in a module of its
    own.
    """
    module = mlir.new_module()
    function = mlir.new_function(module, "main", types)
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        results = op.define(mlir.arguments(function))
    mlir.finish_function(function, results)
    return evaluate.Evaluator(module)


def call_function(
    functions: Mapping[str, Operation], name: str, operands: Sequence[Value]
) -> Sequence[Value]:
    """Emits a call of one of a module's functions."""
    function = functions[name]
    return Call(name, tuple(mlir.result_types(function))).build(operands)


def inlined(
    functions: Mapping[str, Operation], name: str, arguments: Sequence[Value]
) -> list[Value]:
    """Inline a function, with those that it calls, at the insertion point, and return its
    results.
    """
    source = functions[name]
    env: dict[Value, Value] = dict(zip(mlir.arguments(source), arguments, strict=True))
    *body, last = (view.operation for view in mlir.body(source).operations)
    for operation in body:
        if operation.name == Call.name:
            given = [env[v] for v in operation.operands]
            found: Sequence[Value] = inlined(functions, mlir.callee(operation), given)
        else:
            found = mlir.clone(operation, env)
        env.update(zip(operation.results, found, strict=True))
    return [env[v] for v in last.operands]


@contextmanager
def whole(functions: Mapping[str, Operation], name: str) -> Iterator[Operation]:
    """A function like another of the open module, but without calls; it is there for as long as the
    context is.
    """
    module = mlir.open_module()
    types = [a.type for a in mlir.arguments(functions[name])]
    unique = mlir.unique_name(module, f"{name}.whole")
    function = mlir.new_function(module, unique, types, mlir.current_location())
    try:
        with mlir.InsertionPoint(mlir.body(function)):
            results = inlined(functions, name, mlir.arguments(function))
        mlir.finish_function(function, results)
        yield function
    finally:
        function.erase()


def adapted(
    module: mlir.Module, name: str, types: Sequence[Type], order: Sequence[int], new_name: str
) -> str:
    """Add a function of arguments of the given types, which calls function `name` with those that
    `order` selects; return its name, which is `new_name` if that is unused.
    """
    unique = mlir.unique_name(module, new_name)
    function = mlir.new_function(module, unique, types, mlir.current_location())
    arguments = mlir.arguments(function)
    with mlir.InsertionPoint(mlir.body(function)):
        operands = [arguments[i] for i in order]
        results = call_function(mlir.Functions(module), name, operands)
    mlir.finish_function(function, results)
    return mlir.function_name(function)


def scatter(values: Sequence[Tangent], present: Sequence[bool]) -> list[Tangent]:
    """Return `values` at the positions where `present` holds, None at the others."""
    remaining = iter(values)
    return [next(remaining) if p else None for p in present]


# ---- what loops and branches share ---------------------------------------------------------------

D = TypeVar("D")


def fixed_point(
    step: Callable[[tuple[bool, ...]], tuple[D, Sequence[bool]]], flags: tuple[bool, ...]
) -> tuple[D, tuple[bool, ...]]:
    """Return the least fixed point of `step` at or above the given flags, and the result of `step`
    there.
    """
    while True:
        found, after = step(flags)
        joined = tuple(a or b for a, b in zip(flags, after, strict=True))
        if joined == flags:
            return found, flags
        flags = joined


def instantiated(
    like: Sequence[Typed], tangents: Sequence[Tangent], wanted: Sequence[bool]
) -> list[Value]:
    """The wanted tangents (or cotangents): zeros of the type of `like` where there is none."""
    return [
        zeros_like(x) if t is None else t
        for x, t, wants in zip(like, tangents, wanted, strict=True)
        if wants
    ]


def batched_where(
    values: Sequence[Value], axes: Sequence[Axis], size: int, wanted: Sequence[bool]
) -> list[Value]:
    """The values, with the mapped axis first where that is wanted, by repetition if need be."""
    return [
        shape.batched_at(x, axis, size, 0) if wants else x
        for x, axis, wants in zip(values, axes, wanted, strict=True)
    ]


def zeros_of(type_: Any) -> Value:
    """A constant zero of a tensor type."""
    return full(mlir.shape_of_type(type_), 0, mlir.dtype_of_type(type_))
