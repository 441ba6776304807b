"""Programs for the devices of a mesh, as programs for one device.

The body of an `irax.shard_map` is batched along each manual axis of the mesh. An operand is first
split: each dimension that is divided becomes the axes of the mesh, which go to the front, and the
shard's own dimension. Results are joined in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, shape_of
from irax_compiler.ops import shape
from irax_compiler.ops.control_flow.shard_map import ShardMap, Spec, axes_of, is_shard_map
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.registry import read
from irax_compiler.ops.slicing import slice_in_dim
from irax_compiler.ops.structured import call_function
from irax_compiler.passes.core import Pass, find_function, register_pass
from irax_compiler.passes.derive.batch import BatchDeriver


@register_pass
class BatchShardMaps(Pass):
    """Replaces each `irax.shard_map` by a call of its body, batched along the axes of the mesh: the
    program for all devices becomes a program for one.
    """

    name: ClassVar[str] = "batch-shard-maps"

    def run(self, module: Module) -> None:
        while found := [o for o in mlir.references(module.operation) if is_shard_map(o)]:
            for operation in found:
                mlir.replace(operation, _on_one_device(module, operation))


def _on_one_device(module: Module, operation: Operation) -> Sequence[Value]:
    op = read(operation)
    assert isinstance(op, ShardMap)
    _check(op, operation, module)
    name = op.body
    used = [axes_of(spec) for spec in op.in_specs]
    wanted = [axes_of(spec) for spec in op.out_specs]
    for axis in reversed(op.manual):
        name = _batched(
            module,
            name,
            (axis, op.sizes[axis]),
            [0 if axis in axes else None for axes in used],
            [axis in axes for axes in wanted],
        )
    with InsertionPoint(operation), operation.location:
        operands = zip(operation.operands, op.in_specs, strict=True)
        given = [_split(op, x, spec) for x, spec in operands]
        found = call_function(mlir.Functions(module), name, given)
        results = zip(found, op.out_specs, operation.results, strict=True)
        return [_joined(op, x, spec, shape_of(whole)) for x, spec, whole in results]


def _check(op: ShardMap, operation: Operation, module: Module) -> None:
    """Raise UnsupportedOp where operands cannot be divided into the arguments of the body."""
    arguments = mlir.arguments(find_function(module, op.body))
    for x, spec, argument in zip(operation.operands, op.in_specs, arguments, strict=True):
        whole = op.whole_type(argument.type, spec)
        if x.type != whole:
            raise UnsupportedOp(
                f"irax.shard_map at {operation.location}: @{op.body} takes shards of type "
                f"{argument.type}, which are parts of {whole}; got {x.type}"
            )


def _batched(
    module: Module,
    name: str,
    axis: tuple[str, int],
    in_axes: Sequence[int | None],
    wanted: Sequence[bool],
) -> str:
    """Add a function batched along an axis, which is first in the results for which it is wanted;
    of the others it is what the first device has.
    """
    axis_name, size = axis
    deriver = BatchDeriver(module, size, axis_name=axis_name, over_devices=True)
    derived = deriver.function(name, tuple(in_axes))
    function = mlir.functions(module)[derived.name]

    def build(*arguments: Value) -> Sequence[Value]:
        found = call_function(deriver.functions, derived.name, arguments)
        results = zip(found, derived.results, wanted, strict=True)
        return [
            shape.batched_at(x, place, size, 0) if wants else _of_first(x, place)
            for x, place, wants in results
        ]

    types = [x.type for x in mlir.arguments(function)]
    with function.location:
        return deriver.build_function(f"{name}.{axis_name}", types, build)


def _of_first(x: Value, axis: int | None) -> Value:
    """Build the array of the first device along a mapped axis."""
    if axis is None:
        return x
    extents = shape_of(x)
    own = slice_in_dim(x, 0, 1, axis)
    return shape.reshape(own, (*extents[:axis], *extents[axis + 1 :]))


def _mesh_axes(op: ShardMap, spec: Spec) -> list[int]:
    """The dimensions of a split array that are axes of the mesh, in the order of the mesh."""
    places: dict[str, int] = {}
    for number, axes in enumerate(spec):
        for axis in axes:
            places[axis] = number + len(places)
    return [places[axis] for axis in op.manual if axis in places]


def _split_shape(op: ShardMap, extents: Sequence[int], spec: Spec) -> list[int]:
    """Return the shape of an array whose divided dimensions are several: axes, then the shard's."""
    split: list[int] = []
    for extent, axes in zip(extents, spec, strict=True):
        split += [*(op.sizes[axis] for axis in axes), extent // op.shards(axes)]
    return split


def _split(op: ShardMap, x: Value, spec: Spec) -> Value:
    """Build the shards of an array, stacked along the axes of the mesh, which come first."""
    places = _mesh_axes(op, spec)
    split = _split_shape(op, shape_of(x), spec)
    own = [d for d in range(len(split)) if d not in places]
    return shape.transpose(shape.reshape(x, split), [*places, *own])


def _joined(op: ShardMap, x: Value, spec: Spec, extents: Sequence[int]) -> Value:
    """Build the array of stacked shards: the inverse of `_split`."""
    places = _mesh_axes(op, spec)
    own = [d for d in range(len(shape_of(x))) if d not in places]
    order = [*places, *own]
    back = [order.index(d) for d in range(len(order))]
    return shape.reshape(shape.transpose(x, back), extents)
