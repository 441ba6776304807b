r"""Shardy's operations and attributes, as irax's.

    %0 = "sdy.manual_computation"(%a) ({ ... }) {in_shardings = "[<@mesh, [{\22x\22}]>]", ...}

A region of a manual computation becomes a function of shards, and the operation an
`irax.shard_map`. A constraint is an `irax.shard_map` of the identity. What a function's attributes
say of its arguments and results is stated in one attribute, which `partition` reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.forms import manual, parts_of_axes
from irax_compiler.forms.layouts import Sharding, constraint, operations, state
from irax_compiler.mlir import InsertionPoint, Module, Operation
from irax_compiler.ops.control_flow.shard_map import ShardMap, Spec
from irax_compiler.shardy.layouts import Mesh

_AXIS = re.compile(r'"([^"]+)"=(\d+)')
_SHARDING = re.compile(
    r"<(?:@(?P<name>[\w.$-]+)|mesh<(?P<mesh>[^>]*)>), "
    r"\[(?P<dimensions>(?:\{[^}]*\}(?:p\d+)?(?:, )?)*)\][^>]*>"
)

_SAME = ("sdy.data_flow_edge", "sdy.func_data_flow_edge", "sdy.propagation_barrier")
"""Operations that say how layouts spread, and whose results are their operands."""

_EACH = ("arg_attrs", "res_attrs")
_WRITTEN = ("sharding", "in_shardings", "out_shardings", "manual_axes", "parts")

_LAYOUTS = {
    "sdy.sharding_constraint": "sharding",
    "sdy.reshard": "sharding",
    **dict.fromkeys(
        ("sdy.all_gather", "sdy.all_slice", "sdy.all_to_all", "sdy.collective_permute"),
        "out_sharding",
    ),
}
"""Operations whose results are their operands in another layout, and the attribute that has it: of
whole arrays, that is all that collectives of the dialect say."""

Meshes = dict[str, Mesh]


def rewrite(module: Module) -> None:
    """Rewrite all that a module has of Shardy's.

    Raises:
        ValueError: a sharding is of a mesh that the module lacks, or parts of an axis overlap.
    """
    for name in _SAME:
        for operation in operations(module, name):
            mlir.replace(operation, list(operation.operands))
    for operation in operations(module, "sdy.sharding_group"):
        operation.erase()
    for operation in operations(module, "sdy.constant"):
        with InsertionPoint(operation), operation.location:
            value = {"value": operation.attributes["value"]}
            types = [x.type for x in operation.results]
            mlir.replace(operation, mlir.emit("stablehlo.constant", [], value, types).results)
    while found := operations(module, "sdy.named_computation"):
        _inline(found[0])
    meshes = _without_meshes(module)
    if meshes is None:
        _without_unknown(module)
        return _check(module)
    for function in mlir.functions(module).values():
        state(function, "sdy.sharding", lambda given: _only(_shardings(_text(given), meshes)))
    number = 0
    while found := operations(module, "sdy.manual_computation"):
        _as_call(module, found[0], meshes, f"irax_manual_computation_{number}")
        number += 1
    for name, attribute in _LAYOUTS.items():
        for operation in operations(module, name):
            _as_constraint(operation, attribute, meshes)
    _check(module)


def _inline(operation: Operation) -> None:
    """Put the operations of a named computation in its place."""
    block = operation.regions[0].blocks[0]
    with InsertionPoint(operation):
        env = dict(zip(block.arguments, operation.operands, strict=True))
        results = mlir.copy_block(block, env)
    mlir.replace(operation, results)


def _check(module: Module) -> None:
    """Raise ValueError for an operation of the dialect that is left."""
    if found := [o for o in operations(module) if o.name.startswith("sdy.")]:
        raise ValueError(
            f"{found[0].name} is not supported here: the module is a program for several devices; "
            "write it as text (in JAX: exported.mlir_module()), or export the function without it"
        )


def _text(attribute: Any) -> str:
    return attribute.value if isinstance(attribute, mlir.ir.StringAttr) else str(attribute)


def _without_meshes(module: Module) -> Meshes | None:
    """Remove a module's meshes; return their axes by name, or None where these are not known."""
    found: Meshes = {}
    is_known = True
    cuts = parts_of_axes.cuts(_texts(module))
    for operation in operations(module, "sdy.mesh"):
        if "mesh" in operation.attributes:
            name = _text(operation.attributes["sym_name"])
            mesh = _axes(_text(operation.attributes["mesh"]))
            found[name] = parts_of_axes.divided(mesh, cuts)
        else:
            is_known = False
        operation.erase()
    return found if is_known else None


def _axes(text: str) -> Mesh:
    return {axis: int(size) for axis, size in _AXIS.findall(text)}


def _texts(module: Module) -> Iterator[str]:
    """The shardings that are written in attributes."""
    for operation in operations(module):
        if operation.name.startswith("sdy."):
            yield from (_text(operation.attributes[name]) for name in _given(operation, _WRITTEN))
        elif operation.name == "func.func":
            yield from (str(operation.attributes[name]) for name in _given(operation, _EACH))


def _given(operation: Operation, names: Sequence[str]) -> list[str]:
    return [name for name in names if name in operation.attributes]


def _without_unknown(module: Module) -> None:
    """Remove constraints that are not known."""
    for name in ("sdy.sharding_constraint", "sdy.reshard"):
        for operation in operations(module, name):
            mlir.replace(operation, list(operation.operands))


def _shardings(text: str, meshes: Meshes, is_manual: bool = False) -> list[Sharding]:
    """The meshes and specs in the text of an attribute; None where a dimension is left open. Of a
    manual computation it is open to axes that are none of the computation's.
    """
    found: list[Sharding] = []
    for match in _SHARDING.finditer(text):
        name, own = match["name"], match["mesh"]
        if own is None and name not in meshes:
            raise ValueError(f"a sharding is over @{name}, a mesh that the module lacks: {text}")
        mesh = meshes[name] if own is None else _axes(own)
        each = re.findall(r"\{([^}]*)\}", match["dimensions"])
        spec = tuple(parts_of_axes.named(mesh, one) for one in each)
        found.append((mesh, None if not is_manual and any("?" in one for one in each) else spec))
    return found


def _only(found: Sequence[Sharding]) -> Sharding | None:
    return found[0] if found else None


def _as_constraint(operation: Operation, attribute: str, meshes: Meshes) -> None:
    (x,) = operation.operands
    found = _only(_shardings(_text(operation.attributes[attribute]), meshes))
    if found is not None and found[1] is not None and manual.mesh_around(operation) is None:
        with InsertionPoint(operation), operation.location:
            x = constraint(x, found[0], found[1])
    mlir.replace(operation, [x])


def _as_call(module: Module, operation: Operation, meshes: Meshes, name: str) -> None:
    """Make the region of a manual computation a function, and the operation a call of it."""
    if "manual_axes" not in operation.attributes:
        return
    named = {key: _text(operation.attributes[key]) for key in ("in_shardings", "out_shardings")}
    ins, outs = (_shardings(text, meshes, is_manual=True) for text in named.values())
    mesh = next((mesh for mesh, _ in [*ins, *outs] if mesh), {})
    given = parts_of_axes.named(mesh, _text(operation.attributes["manual_axes"]))
    axes = tuple(axis for axis in mesh if axis in given)
    block = operation.regions[0].blocks[0]
    types = [argument.type for argument in block.arguments]
    for type_ in types:
        if not isinstance(type_, mlir.RankedTensorType):
            raise ValueError(f"{operation.name} at {operation.location} of {type_}: not supported")
    function = mlir.new_function(module, name, types, operation.location)
    with InsertionPoint(mlir.body(function)):
        env = dict(zip(block.arguments, mlir.arguments(function), strict=True))
        results = mlir.copy_block(block, env)
    mlir.finish_function(function, results)
    manual.set_mesh_around(function, mesh)

    def specs(found: Sequence[Sharding]) -> tuple[Spec, ...]:
        return tuple(
            tuple(tuple(a for a in of_one if a in axes) for of_one in spec or ())
            for _, spec in found
        )

    with InsertionPoint(operation), operation.location:
        op = ShardMap(name, tuple(mesh.items()), axes, specs(ins), specs(outs), check_vma=False)
        mlir.replace(operation, op.build(operation.operands))
