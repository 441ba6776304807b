"""The pass scatter-sums, which gives each device its part of a sum over devices, and no more.

    %1 = stablehlo.custom_call @irax.all_reduce(%0) {axis = "data", size = 4, combiner = "add"}
    %2 = stablehlo.dynamic_slice %1, %start, %zero, sizes = [2, 3]

where `%start` is twice the device's index along the axis, becomes

    %1 = stablehlo.reshape %0 : (tensor<8x3xf32>) -> tensor<4x2x3xf32>
    %2 = stablehlo.custom_call @irax.reduce_scatter(%1) {axis = "data", size = 4, dimension = 0}

This is what an optimizer needs whose state is divided among the devices: it sends half of what the
sum does, and each device keeps and updates its part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from irax_compiler import mlir
from irax_compiler.mlir import (
    Block,
    InsertionPoint,
    Module,
    Operation,
    Value,
    bytes_of,
    dtype_of,
    shape_of,
)
from irax_compiler.ops import elementwise
from irax_compiler.ops.collective import AllReduce, AxisIndex, ReduceScatter, collective_of
from irax_compiler.ops.core import UnsupportedOp, full
from irax_compiler.ops.indexing.dynamic_slices import DynamicSlice
from irax_compiler.ops.registry import read
from irax_compiler.ops.shape import reshape
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.mesh.resharding import divided
from irax_compiler.shardy.layouts import mesh_of


class _Part(NamedTuple):
    """A device's part of a dimension of an array that is divided along an axis."""

    dimension: int
    axis: str
    count: int
    """The size of the axis."""

    def of(self, x: Value) -> Value:
        """Build this device's part of an array."""
        fill = mlir.splat(x)
        if fill is None:
            return divided(x, self.dimension, self.axis, self.count)
        extents = list(shape_of(x))
        extents[self.dimension] //= self.count
        return full(extents, fill, dtype_of(x))


@register_pass
@dataclass
class ScatterSums(Pass):
    """Replaces sums over devices, of arrays of at least `small` bytes, by sums of which each device
    gets the part that it uses, and computes only that part of what is made of them element by
    element. Smaller arrays are summed whole, many in one message (see combine-all-reduces).
    """

    name: ClassVar[str] = "scatter-sums"
    small: int = 1 << 16

    def run(self, module: Module) -> bool:
        is_changed = False
        for function in mlir.functions(module).values():
            mesh = mesh_of(function)
            if not mesh:
                continue
            inside = [region for operation in nested(function) for region in operation.regions]
            for block in [mlir.body(function), *(b for region in inside for b in region.blocks)]:
                is_changed |= self._divide(block)
        return is_changed

    def _divide(self, block: Block) -> bool:
        """Move parts in front of what computes the arrays, users before what they use."""
        is_changed = False
        for operation in [view.operation for view in reversed(list(block.operations))]:
            part = _only_part(operation)
            if part is None:
                continue
            with InsertionPoint(operation), operation.location:
                found = self._summed(operation, part) or _computed(operation, part)
            if found is None:
                continue
            for use in list(operation.results[0].uses):
                mlir.replace(use.owner.operation, [found])
            operation.erase()
            is_changed = True
        return is_changed

    def _summed(self, operation: Operation, part: _Part) -> Value | None:
        """Build a device's part of a sum over devices; None of another operation."""
        op = collective_of(operation)
        if not isinstance(op, AllReduce) or op.groups:
            return None
        (x,) = operation.operands
        dimension, axis, count = part
        if op.axis != axis:
            return op(part.of(x))
        if op.combiner != "add" or bytes_of(x) < self.small:
            return None
        extents = list(shape_of(x))
        extents[dimension : dimension + 1] = [count, extents[dimension] // count]
        return ReduceScatter(axis, count, dimension)(reshape(x, extents))


def _computed(operation: Operation, part: _Part) -> Value | None:
    """Build a device's part of the result of an operation from parts of its operands; None where
    an element of it needs more than these.
    """
    if len(operation.regions) or collective_of(operation) is not None:
        return None
    try:
        op = read(operation)
    except UnsupportedOp:
        return None
    operands = list(operation.operands)
    extents = shape_of(operation.results[0])
    rule = op.sharding_rule([shape_of(x) for x in operands], [extents])
    if rule is None or rule.reduced or not op.is_pure or not operands:
        return None
    factor = rule.results[0][part.dimension]
    if factor is None or factor in rule.gathered:
        return None
    if any(factors.count(factor) > 1 for factors in (*rule.operands, *rule.results)):
        return None
    given = [
        part._replace(dimension=factors.index(factor)).of(x) if factor in factors else x
        for x, factors in zip(operands, rule.operands, strict=True)
    ]
    made = list(extents)
    made[part.dimension] //= part.count
    (found,) = op.on_shards([shape_of(x) for x in given], [tuple(made)]).build(given)
    return found


def _only_part(operation: Operation) -> _Part | None:
    """Return the part that all users of an operation's only result take of it; None if they take
    several, or the whole.
    """
    if len(operation.results) != 1:
        return None
    uses = list(operation.results[0].uses)
    if any(use.owner.operation.block != operation.block for use in uses):
        return None
    parts = {_part_taken(use.owner.operation, use.operand_number) for use in uses}
    return parts.pop() if len(parts) == 1 else None


def _part_taken(user: Operation, number: int) -> _Part | None:
    """Return the part that an operation takes of its operand of a number."""
    if user.name != DynamicSlice.name or number != 0:
        return None
    op: Any = read(user)
    x, *starts = user.operands
    smaller = [d for d, n in enumerate(shape_of(x)) if op.slice_sizes[d] != n]
    if len(smaller) != 1:
        return None
    (dimension,) = smaller
    size = op.slice_sizes[dimension]
    index = _multiple_of(starts[dimension], size)
    if index is None or shape_of(x)[dimension] != size * index.size:
        return None
    return _Part(dimension, index.axis, index.size)


def _multiple_of(start: Value, size: int) -> AxisIndex | None:
    """Return the index of a device that a place is `size` times of; None if it is not known."""
    operation = mlir.definition(start)
    if operation is None or operation.name != elementwise.multiply.name:
        return None
    for x, y in (tuple(operation.operands), tuple(operation.operands)[::-1]):
        found = mlir.definition(x)
        factor = mlir.splat(y)
        if found is None or factor is None or int(factor) != size:
            continue
        index = collective_of(found)
        if isinstance(index, AxisIndex):
            return index
    return None
