"""Separation: splits @f by some of its arguments into @f.known, which computes the results that do
not depend on these, and @f.moving, which computes the others.

`linearize` splits a derivative by its tangents so. `transpose` goes through operations that are
linear; of a loop that also counts, or a call of which just some results are linear, it takes the
second part.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any

from irax_compiler import effects, mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.ops.core import Tangent, zeros_like
from irax_compiler.ops.derived import Linearized
from irax_compiler.ops.structured import StructuredOp
from irax_compiler.passes.core import Deriver, asking, inputs, returned, rule, walk
from irax_compiler.passes.derive.linearity import Dependents, Linearity
from irax_compiler.passes.derive.residuals import Residuals


class Separation(Deriver[Linearized]):
    """Derives the two parts of functions, for a pattern of the arguments that are moving: what a
    `Linearization` is, where tangents are the moving operands themselves.
    """

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self._linearity = Linearity(self.functions)

    def derive(self, source: Operation, pattern: tuple[Any, ...]) -> Linearized:
        name, arguments = mlir.function_name(source), mlir.arguments(source)
        types = [a.type for a in [*arguments, *compress(arguments, pattern)]]
        joint = self.new_function(f"{name}.apart", types, source.location)
        given = mlir.arguments(joint)
        moving = dict(zip(compress(arguments, pattern), given[len(arguments) :], strict=True))
        known = {a: x for a, x in zip(arguments, given, strict=False) if a not in moving}
        with InsertionPoint(mlir.body(joint)), source.location:
            self._copy(source, known, moving)
            outputs = returned(source)
            results = [known[v] if v in known else zeros_like(v) for v in outputs]
            moved = [moving.get(v) for v in outputs]
        mlir.finish_function(joint, [*results, *(x for x in moved if x is not None)])
        parts = f"{name}.known", f"{name}.moving"
        return split(self, joint, name, parts, pattern, results, moved)

    def apart(self, source: Operation, flags: Sequence[bool], name: str) -> Operation:
        """Return a function like another one whose operations have results that all depend on the
        arguments that `flags` marks, or none; it is called `name` if that is unused.
        """
        arguments = mlir.arguments(source)
        function = self.new_function(name, [a.type for a in arguments], source.location)
        pairs = list(zip(arguments, mlir.arguments(function), strict=True))
        moving = dict(compress(pairs, flags))
        known = {a: x for a, x in pairs if a not in moving}
        with InsertionPoint(mlir.body(function)):
            self._copy(source, known, moving)
        mlir.finish_function(function, [moving.get(v) or known[v] for v in returned(source)])
        effects.remove_dead_operations(mlir.body(function))
        return function

    def _copy(
        self, source: Operation, known: dict[Value, Value], moving: dict[Value, Value]
    ) -> None:
        """Copy a function's body to the insertion point. The dictionaries have the copies of its
        arguments, and get those of all values: in `moving`, of what depends on those there.
        """
        transform: Any = self  # rules ask for these operations of a Linearization alone
        for operation in walk(mlir.body(source)):
            operands = inputs(operation)
            flags = [v in moving for v in operands]
            if not any(flags):
                known.update(zip(operation.results, mlir.clone(operation, known), strict=True))
                continue
            dependent = self._linearity.of_operation(operation, flags)
            if all(dependent):
                env = {v: moving.get(v) or known[v] for v in operands}
                moving.update(zip(operation.results, mlir.clone(operation, env), strict=True))
                continue
            op = rule(operation, "separate")
            assert isinstance(op, StructuredOp)
            with asking(operation), mlir.named("separate", operation.location):
                given = [zeros_like(v) if v in moving else known[v] for v in operands]
                found, moved = op.separate(transform, given, [moving.get(v) for v in operands])
            for result, one, other, is_moving in zip(
                operation.results, found, moved, dependent, strict=True
            ):
                if is_moving and other is not None:
                    moving[result] = other
                else:
                    known[result] = one

    # -- as a Linearization --

    def in_forward_mode(
        self, operation: Operation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        """The results that are known, and those that are moving by the whole operation."""
        both = [x if t is None else t for x, t in zip(primals, tangents, strict=True)]
        return mlir.clone_on(operation, primals), mlir.clone_on(operation, both)


def split(
    deriver: Deriver[Any],
    joint: Operation,
    name: str,
    parts: tuple[str, str],
    active: Sequence[bool],
    results: Sequence[Value],
    tangents: Sequence[Tangent],
) -> Linearized:
    """Split a function into two, and erase it.

    Args:
        deriver: adds them to its module.
        joint: the function, of the arguments of function `name` and tangents of the active ones.
        name: the function that `joint` was made of.
        parts: the names of the two functions, if they are unused.
        active: for each argument, True if it has a tangent.
        results: values of `joint` that do not depend on tangents.
        tangents: values that may.
    """
    given = mlir.arguments(joint)
    primal_inputs, tangent_inputs = given[: len(active)], given[len(active) :]
    moving = Dependents(mlir.body(joint), tangent_inputs)
    outputs = [t for t in tangents if t is not None]
    residuals = Residuals(moving, outputs)
    saved = residuals.saved
    first, second = parts
    operations = [*residuals.recomputed, *moving.operations]
    with joint.location:
        forward = _part(deriver, first, primal_inputs, moving.others, [*results, *saved])
        linear = _part(deriver, second, [*saved, *tangent_inputs], operations, outputs)
    effects.remove_dead_operations(mlir.body(deriver.functions[forward]))
    numbers: dict[Value, Any] = {x: i for i, x in enumerate(primal_inputs)}
    found = Linearized(
        forward,
        tuple(active),
        tuple(t is not None for t in tangents),
        linear,
        tuple(numbers.get(x, x.type) for x in saved),
    )
    del deriver.functions[mlir.function_name(joint)]
    joint.erase()
    return found


def _part(
    deriver: Deriver[Any],
    name: str,
    given: Sequence[Value],
    operations: Sequence[Operation],
    results: Sequence[Value],
) -> str:
    """The name of a new function of some values, of copies of some operations."""

    def build(*arguments: Value) -> Sequence[Value]:
        env = dict(zip(given, arguments, strict=True))
        mlir.clone_all(operations, env)
        return [env[v] for v in results]

    return deriver.build_function(name, [v.type for v in given], build)
