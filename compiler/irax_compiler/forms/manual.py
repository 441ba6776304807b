"""StableHLO's collectives in functions of shards, as collectives along the axes of the mesh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from math import prod
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Module, Operation, Value, shape_of
from irax_compiler.ops import collective, conversion, elementwise, shape
from irax_compiler.ops.core import full_like
from irax_compiler.shardy.layouts import mesh_of_text, text_of_mesh

_MESH = "irax.manual_mesh"
"""The attribute of functions of shards, from which their collectives follow."""

Mesh = Mapping[str, int]


def set_mesh_around(function: Operation, mesh: Mesh) -> None:
    """State the mesh of a function of shards."""
    function.attributes[_MESH] = mlir.string(text_of_mesh(dict(mesh)))


def mesh_around(operation: Operation) -> Mesh | None:
    """Return the mesh of the function of shards that an operation is in; None elsewhere."""
    function: Any = operation
    while function.name not in ("func.func", "builtin.module"):
        function = function.parent.operation
    if _MESH not in function.attributes:
        return None
    return mesh_of_text(function.attributes[_MESH].value)


def spread_meshes(module: Module) -> None:
    """State the mesh of functions that functions of shards call.

    Raises:
        ValueError: functions of shards of several meshes call one with collectives.
    """
    functions = mlir.functions(module)
    waiting = [function for function in functions.values() if _MESH in function.attributes]
    while waiting:
        function = waiting.pop()
        mesh = function.attributes[_MESH]
        for name in map(mlir.callee, mlir.calls(function)):
            called = functions[name]
            if _MESH not in called.attributes:
                called.attributes[_MESH] = mesh
                waiting.append(called)
            elif called.attributes[_MESH] != mesh and _communicates(called):
                raise ValueError(
                    f"@{name} has collectives, and is called by shards of two meshes: "
                    f"{mesh} and {called.attributes[_MESH]}; expected a function for each"
                )


def _communicates(function: Operation) -> bool:
    return any(operation.name in MANUAL for operation in mlir.operations_in(function))


def _devices(mesh: Mesh) -> np.ndarray:
    return np.arange(prod(mesh.values())).reshape(*mesh.values())


def axes_of_groups(mesh: Mesh, groups: np.ndarray) -> tuple[str, ...] | None:
    """Return the axes along which groups of devices lie, in the order of the devices in a group."""
    names, devices = list(mesh), _devices(mesh)
    wanted = sorted(map(tuple, groups.tolist()))
    for count in range(len(names) + 1):
        for chosen in combinations(names, count):
            for order in permutations(chosen):
                rest = [names.index(a) for a in names if a not in order]
                lines = devices.transpose([*rest, *map(names.index, order)])
                width = prod(mesh[a] for a in order)
                if sorted(map(tuple, lines.reshape(-1, width).tolist())) == wanted:
                    return order
    return None


def _axes(operation: Operation, mesh: Mesh) -> tuple[str, ...] | None:
    attribute: Any = operation.attributes["replica_groups"]
    type_: Any = attribute.type
    return axes_of_groups(mesh, np.array(attribute).reshape(type_.shape))


def _integer(operation: Operation, name: str) -> int:
    attribute: Any = operation.attributes[name]
    return attribute.value


def _combiner(operation: Operation) -> str | None:
    """The name of the one operation that combines elements."""
    folding = [o.operation.name for o in operation.regions[0].blocks[0].operations][:-1]
    kinds = ("add", "maximum", "minimum")
    return next((kind for kind in kinds if folding == [f"stablehlo.{kind}"]), None)


def all_reduce(operation: Operation, mesh: Mesh) -> Sequence[Value] | None:
    """The sums, maxima or minima of several arrays."""
    axes = _axes(operation, mesh)
    combiner = _combiner(operation)
    if axes is None or combiner is None:
        return None
    results = []
    for x in operation.operands:
        for axis in axes:
            x = collective.AllReduce(axis, mesh[axis], combiner)(x)
        results.append(x)
    return results


def all_gather(operation: Operation, mesh: Mesh) -> Sequence[Value] | None:
    """The arrays of several devices, one after the other along a dimension."""
    axes = _axes(operation, mesh)
    if axes is None:
        return None
    place = _integer(operation, "all_gather_dim")
    results = []
    for x, whole in zip(operation.operands, operation.results, strict=True):
        for axis in reversed(axes):
            x = collective.AllGather(axis, mesh[axis], place)(x)
        results.append(shape.reshape(x, shape_of(whole)))
    return results


def reduce_scatter(operation: Operation, mesh: Mesh) -> Sequence[Value] | None:
    """The part for this device, along a dimension, of the sum of several arrays."""
    axes = _axes(operation, mesh)
    if axes is None or _combiner(operation) != "add":
        return None
    place = _integer(operation, "scatter_dimension")
    results = []
    for x in operation.operands:
        for axis in axes:
            x = collective.ReduceScatter(axis, mesh[axis], place)(_split(x, place, mesh[axis]))
        results.append(x)
    return results


def all_to_all(operation: Operation, mesh: Mesh) -> Sequence[Value] | None:
    """The parts for this device, along one dimension, joined along another one."""
    axes = _axes(operation, mesh)
    if axes is None or len(axes) != 1:
        return None
    (axis,) = axes
    split, concat = (_integer(operation, f"{name}_dimension") for name in ("split", "concat"))
    results = []
    for x, whole in zip(operation.operands, operation.results, strict=True):
        parts = _split(x, split, mesh[axis])
        found = collective.AllToAll(axis, mesh[axis], split, concat)(parts)
        results.append(shape.reshape(found, shape_of(whole)))
    return results


def _split(x: Value, dimension: int, count: int) -> Value:
    """An array with a dimension as two, of which the first has `count` parts."""
    extents = list(shape_of(x))
    extents[dimension : dimension + 1] = [count, extents[dimension] // count]
    return shape.reshape(x, extents)


def permute(operation: Operation, mesh: Mesh) -> Sequence[Value] | None:
    """The array of another device along one axis."""
    attribute: Any = operation.attributes["source_target_pairs"]
    type_: Any = attribute.type
    pairs = {tuple(p) for p in np.array(attribute).reshape(type_.shape).tolist()}
    devices = _devices(mesh)
    for number, (axis, size) in enumerate(mesh.items()):
        lines = np.moveaxis(devices, number, -1).reshape(-1, size)
        first = lines[0].tolist()
        along = {(first.index(s), first.index(t)) for s, t in pairs if {s, t} <= set(first)}
        if {(int(line[s]), int(line[t])) for line in lines for s, t in along} == pairs:
            sources = [-1] * size
            for source, target in along:
                sources[target] = source
            (x,) = operation.operands
            return [collective.Permute(axis, size, tuple(sources))(x)]
    return None


def number(operation: Operation, mesh: Mesh) -> Sequence[Value]:
    """The number of the device."""
    total, stride = None, prod(mesh.values())
    for axis, size in mesh.items():
        stride //= size
        index = collective.AxisIndex(axis, size)()
        part = elementwise.multiply(index, full_like(index, stride))
        total = part if total is None else elementwise.add(total, part)
    assert total is not None
    (result,) = operation.results
    return [conversion.Convert(mlir.dtype_of(result))(total)]


MANUAL = {
    "stablehlo.all_reduce": all_reduce,
    "stablehlo.all_gather": all_gather,
    "stablehlo.all_to_all": all_to_all,
    "stablehlo.collective_permute": permute,
    "stablehlo.reduce_scatter": reduce_scatter,
    "stablehlo.partition_id": number,
}
"""The rewrites of collectives in functions of shards."""
