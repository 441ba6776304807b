"""Layouts of values, as types have them along the explicit axes of a mesh.

They follow from the operations' sharding rules: a dimension of a result is divided as those
dimensions of operands are that it is computed with. Where these are divided in several ways, where
a sum is over a divided dimension of both operands, or where the result cannot be divided into as
many parts, a program must say what it wants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import prod
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Value, shape_of
from irax_compiler.ops.control_flow.scan import Scan
from irax_compiler.ops.control_flow.shard_map import ShardMap, Spec, axes_of
from irax_compiler.ops.core import Op, UnsupportedOp
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.ops.shape import Reshape
from irax_compiler.ops.sharding_rule import Factors, ShardingRule, reshaped_layout


class AmbiguousLayoutError(ValueError):
    """The layout of an operation's result does not follow from those of its operands."""


class ShardedTypes:
    """The layouts of results of a module's functions and operations.

    Args:
        functions: the functions of the module, by name.
        mesh: the sizes of the mesh's axes.
    """

    def __init__(self, functions: Mapping[str, Operation], mesh: Mapping[str, int]) -> None:
        self._functions, self._mesh = functions, mesh

    def of(self, operation: Operation, known: Mapping[Value, Spec]) -> tuple[Spec, ...]:
        """Return the layouts of an operation's results; values that are not `known` are whole.

        Raises:
            AmbiguousLayoutError: they do not follow from those of the operands.
        """
        given = [known.get(x, ((),) * len(shape_of(x))) for x in operation.operands]
        whole = tuple(((),) * len(shape_of(x)) for x in operation.results)
        if traits_of(operation).captures:
            is_loop = operation.name == "stablehlo.while"
            return tuple(given) if is_loop else self._branches(operation, known) or whole
        try:
            op = read(operation)
        except UnsupportedOp:
            return whole
        if isinstance(op, ShardMap):
            return self._shard_map(op, given)
        is_divided = any(axes_of(spec) for spec in given)
        if not (is_divided or mlir.named_functions(operation)):
            return whole
        if isinstance(op, Scan):
            return self._scan(op, given)
        if isinstance(op, Reshape):
            return self._reshape(op, operation, given)
        found = self._by_rule(op, operation, given)
        if found is not None:
            return found
        for name in mlir.named_functions(operation):
            found = self._called(name, operation, given)
            if found is not None:
                return found
        return whole

    def of_value(self, value: Value, known: dict[Value, Spec]) -> Spec:
        """Return the layout of a value of an unfinished function. What is found on the way is kept
        in `known`, which has the arguments.
        """
        if value not in known:
            operation = mlir.definition(value)
            if operation is None:
                return ((),) * len(shape_of(value))
            for x in (*operation.operands, *mlir.captured(operation)):
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
        return self._function(function, given)

    def _branches(
        self, operation: Operation, known: Mapping[Value, Spec]
    ) -> tuple[Spec, ...] | None:
        """The layouts of the results of branches, if they are the same in all of them."""
        found = {self._block(region.blocks[0], known) for region in operation.regions}
        return found.pop() if len(found) == 1 else None

    def _function(self, function: Operation, arguments: Sequence[Spec]) -> tuple[Spec, ...]:
        block = mlir.body(function)
        return self._block(block, dict(zip(block.arguments, arguments, strict=True)))

    def _block(self, block: Block, outside: Mapping[Value, Spec]) -> tuple[Spec, ...]:
        """The layouts of what a block returns. Where one does not follow, the value is whole: the
        function was traced without that error, or is a derivative, which nobody wrote.
        """
        known = dict(outside)
        *operations, last = (view.operation for view in block.operations)
        for operation in operations:
            try:
                specs = self.of(operation, known)
            except AmbiguousLayoutError:
                specs = tuple(((),) * len(shape_of(x)) for x in operation.results)
            known.update(zip(operation.results, specs, strict=True))
        return tuple(known.get(x, ((),) * len(shape_of(x))) for x in last.operands)

    def _scan(self, scan: Scan, given: Sequence[Spec]) -> tuple[Spec, ...]:
        """The layouts of the results of a loop: carried values keep theirs; of stacked rows, the
        first dimension is whole.
        """
        consts, carry, xs = scan.parts(given)
        if any(spec[0] for spec in xs):
            raise AmbiguousLayoutError("it goes over the rows of an array whose rows are divided")
        rows = [spec[1:] for spec in xs]
        found = self._function(self._functions[scan.body], [*consts, *carry, *rows])
        _, stacked = scan.results(found)
        return (*carry, *(((), *spec) for spec in stacked))

    def _shard_map(self, op: ShardMap, given: Sequence[Spec]) -> tuple[Spec, ...]:
        """The layouts of the results of a function of shards, which are divided along the axes that
        it maps, and as the shards are along the others.
        """
        if {name for name, _ in op.mesh} <= set(op.manual):
            return op.out_specs
        shards = [tuple(_without(axes, op.manual) for axes in spec) for spec in given]
        inside = self._function(self._functions[op.body], shards)
        pairs = zip(op.out_specs, inside, strict=True)
        return tuple(tuple(map(_joined, own, others)) for own, others in pairs)

    def _reshape(
        self, op: Reshape, operation: Operation, given: Sequence[Spec]
    ) -> tuple[Spec, ...]:
        before = shape_of(operation.operands[0])
        if 0 in before:
            return (((),) * len(op.shape),)
        found = reshaped_layout(before, op.shape, given[0], self._mesh)
        if found is None:
            raise AmbiguousLayoutError(
                f"it is divided along {sorted(axes_of(given[0]))}, and neither is one dimension "
                "split nor are several joined of which the first is divided"
            )
        return (found,)

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
                if factor is None or factor in rule.stated or not axes:
                    if axes and (op.needs_whole or factor in rule.stated):
                        raise AmbiguousLayoutError(
                            f"it needs whole a dimension that is divided along {axes}"
                        )
                    continue
                if chosen.setdefault(factor, axes) != axes:
                    raise AmbiguousLayoutError(
                        f"a dimension is divided along {chosen[factor]} in one operand, and along "
                        f"{axes} in another one"
                    )
        self._check_parts(rule, chosen, chain(*shapes))
        for factor in rule.reduced:
            divided = [s for s, f in zip(given, rule.operands, strict=True) if _along(s, f, factor)]
            if len(divided) > 1:
                raise AmbiguousLayoutError(
                    f"both operands are divided along {chosen[factor]} in a dimension that is "
                    "summed over: the sum may be whole or divided"
                )
        found = tuple(_result(factors, chosen) for factors in rule.results)
        if op.updates and found[0] != given[0]:
            raise AmbiguousLayoutError("the updates are divided otherwise than the array")
        return found

    def _check_parts(
        self,
        rule: ShardingRule,
        chosen: Mapping[int, Sequence[str]],
        shapes: Iterable[Sequence[int]],
    ) -> None:
        """Check that results can be divided where the op gathers parts of its operands."""
        for extents, factors in zip(shapes, (*rule.operands, *rule.results), strict=True):
            for n, factor in zip(extents, factors, strict=True):
                if factor not in rule.gathered:
                    continue
                count = prod(self._mesh[axis] for axis in chosen.get(factor, ()))
                if n % count:
                    raise AmbiguousLayoutError(
                        f"{n} elements cannot be divided into {count} parts along {chosen[factor]}"
                    )


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


def _without(axes: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    return tuple(axis for axis in axes if axis not in others)


def _joined(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    return (*one, *other)
