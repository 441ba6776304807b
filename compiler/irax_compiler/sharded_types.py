"""Layouts of values, as types have them along the explicit axes of a mesh.

They follow from the operations' sharding rules: a dimension of a result is divided as those
dimensions of operands are that it is computed with. Where these are divided in several ways, or
where a sum is over a divided dimension of both operands, a program must say what it wants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Value, shape_of
from irax_compiler.ops.control_flow.shard_map import ShardMap, Spec, axes_of
from irax_compiler.ops.core import Op, UnsupportedOp
from irax_compiler.ops.registry import read
from irax_compiler.ops.sharding_rule import Factors


class AmbiguousLayoutError(ValueError):
    """The layout of an operation's result does not follow from those of its operands."""


class ShardedTypes:
    """The layouts of results of a module's functions and operations."""

    def __init__(self, functions: Mapping[str, Operation]) -> None:
        self._functions = functions

    def of(self, operation: Operation, known: Mapping[Value, Spec]) -> tuple[Spec, ...]:
        """Return the layouts of an operation's results; values that are not `known` are whole.

        Raises:
            AmbiguousLayoutError: they do not follow from those of the operands.
        """
        given = [known.get(x, ((),) * len(shape_of(x))) for x in operation.operands]
        whole = tuple(((),) * len(shape_of(x)) for x in operation.results)
        try:
            op = read(operation)
        except UnsupportedOp:
            return whole
        if isinstance(op, ShardMap):
            return op.out_specs
        if not any(axes_of(spec) for spec in given):
            return whole
        if operation.name == "stablehlo.while":
            return tuple(given)
        for name in mlir.named_functions(operation):
            found = self._called(name, operation, given)
            if found is not None:
                return found
        return self._by_rule(op, operation, given) or whole

    def of_value(self, value: Value, known: dict[Value, Spec]) -> Spec:
        """Return the layout of a value of an unfinished function. What is found on the way is kept
        in `known`, which has the arguments.
        """
        if value not in known:
            operation = mlir.definition(value)
            if operation is None:
                return ((),) * len(shape_of(value))
            for x in operation.operands:
                self.of_value(x, known)
            known.update(zip(operation.results, self.of(operation, known), strict=True))
        return known[value]

    def _called(
        self, name: str, operation: Operation, given: Sequence[Spec]
    ) -> tuple[Spec, ...] | None:
        """The layouts of results of a function, if an operation calls it with its operands."""
        function = self._functions[name]
        if not function.regions[0].blocks:
            return None
        arguments = [x.type for x in mlir.arguments(function)]
        results = [x.type for x in operation.results]
        if arguments != [x.type for x in operation.operands]:
            return None
        if results != mlir.result_types(function):
            return None
        return self._block(mlir.body(function), given)

    def _block(self, block: Block, arguments: Sequence[Spec]) -> tuple[Spec, ...]:
        """The layouts of what a block returns. Where one does not follow, the value is whole: the
        function was traced without that error, or is a derivative, which nobody wrote.
        """
        known: dict[Value, Spec] = dict(zip(block.arguments, arguments, strict=True))
        *operations, last = (view.operation for view in block.operations)
        for operation in operations:
            try:
                specs = self.of(operation, known)
            except AmbiguousLayoutError:
                specs = tuple(((),) * len(shape_of(x)) for x in operation.results)
            known.update(zip(operation.results, specs, strict=True))
        return tuple(known[x] for x in last.operands)

    def _by_rule(
        self, op: Op, operation: Operation, given: Sequence[Spec]
    ) -> tuple[Spec, ...] | None:
        shapes = [shape_of(x) for x in operation.operands], [shape_of(x) for x in operation.results]
        rule = op.sharding_rule(*shapes)
        if rule is None:
            return None
        chosen: dict[int, tuple[str, ...]] = {}
        for spec, factors in zip(given, rule.operands, strict=True):
            for axes, factor in zip(spec, factors, strict=True):
                if factor is None or not axes:
                    if axes and op.needs_whole:
                        raise AmbiguousLayoutError(
                            f"it needs whole a dimension that is divided along {axes}"
                        )
                    continue
                if chosen.setdefault(factor, axes) != axes:
                    raise AmbiguousLayoutError(
                        f"a dimension is divided along {chosen[factor]} in one operand, and along "
                        f"{axes} in another one"
                    )
        for factor in rule.reduced:
            divided = [s for s, f in zip(given, rule.operands, strict=True) if _along(s, f, factor)]
            if len(divided) > 1:
                raise AmbiguousLayoutError(
                    f"both operands are divided along {chosen[factor]} in a dimension that is "
                    "summed over: the sum may be whole or divided"
                )
        return tuple(_result(factors, chosen) for factors in rule.results)


def _along(spec: Spec, factors: Factors, factor: int) -> bool:
    return any(f == factor and axes for axes, f in zip(spec, factors, strict=True))


def _result(factors: Factors, chosen: Mapping[int, tuple[str, ...]]) -> Spec:
    spec = tuple(() if f is None else chosen.get(f, ()) for f in factors)
    used: list[Any] = [axis for axes in spec for axis in axes]
    if twice := {axis for axis in used if used.count(axis) > 1}:
        raise AmbiguousLayoutError(
            f"two dimensions of the result are divided along {sorted(twice)}"
        )
    return spec
