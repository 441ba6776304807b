"""Layouts that foreign modules state, in irax's terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Module, Operation, Value, shape_of
from irax_compiler.ops.control_flow.shard_map import ShardMap, Spec
from irax_compiler.shardy import layouts as stated_layouts
from irax_compiler.shardy.layouts import Mesh, StatedLayouts

Sharding = tuple[Mesh, Spec | None]
"""A mesh, and the axes along which each dimension is divided; None where some are left open."""


def operations(module: Module, name: str | None = None) -> list[Operation]:
    """Return the operations of a name, or all, each before those inside it."""
    found = mlir.operations_in(module.operation, outermost_first=True)
    return [operation for operation in found if name in (None, operation.name)]


def state(function: Operation, attribute: str, read: Callable[[Any], Sharding | None]) -> None:
    """State the layouts that attributes of a function's arguments and results say.

    Raises:
        ValueError: they are of several meshes.
    """

    def given(where: str) -> list[Sharding | None]:
        if where not in function.attributes:
            return []
        entries: Any = function.attributes[where]
        return [read(e[attribute]) if attribute in e else None for e in entries]

    arguments, results = given("arg_attrs"), given("res_attrs")
    meshes = [found[0] for found in (*arguments, *results) if found is not None and found[0]]
    if not meshes:
        return
    if any(mesh != meshes[0] for mesh in meshes):
        raise ValueError(f"arguments and results are divided along several meshes: {meshes}")
    counts = len(mlir.arguments(function)), len(mlir.result_types(function))

    def specs(found: Sequence[Sharding | None], count: int) -> list[Spec | None]:
        return [None if one is None else one[1] for one in found] or [None] * count

    layouts = StatedLayouts(meshes[0], specs(arguments, counts[0]), specs(results, counts[1]))
    stated_layouts.state(function, layouts)


def constraint(x: Value, mesh: Mesh, spec: Spec) -> Value:
    """Build an array of a layout: an `irax.shard_map` of the identity. One that cannot be divided
    so is left as it is.
    """
    op = ShardMap("", tuple(mesh.items()), tuple(mesh), (spec,), (spec,))
    if any(n % op.shards(axes) for n, axes in zip(shape_of(x), spec, strict=True)):
        return x
    module = mlir.open_module()
    name = mlir.unique_name(module, "irax_constraint")
    function = mlir.new_function(module, name, [op.shard_type(x.type, spec)])
    mlir.finish_function(function, mlir.arguments(function))
    (found,) = ShardMap(name, op.mesh, op.manual, (spec,), (spec,)).build([x])
    return found
