"""Exported functions for several devices: the layouts of their arguments and results, which the
module states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irax.core.array import Array, ConcreteArray, device_of
from irax.core.avals import ShapedArray, ShapeDtypeStruct
from irax.core.shardings import explicit_axes
from irax.core.shardings.meshes import AbstractMesh, Mesh, current_mesh
from irax.core.shardings.partition_specs import PartitionSpec
from irax.core.shardings.sharded import sharding_of, spec_of
from irax.core.shardings.shardings import NamedSharding, Sharding
from irax.core.trees import array_trees
from irax.execution import backend
from irax.execution.divided_functions import DividedFunction
from irax.execution.jitted import PjitFunction
from irax.execution.shardings.jit_shardings import constrained
from irax_compiler import api, mlir
from irax_runtime.mesh import MeshDevice


def state(
    module: mlir.Module, name: str, function: PjitFunction[..., Any], args: Any, kwargs: Any
) -> None:
    """State the layouts of a function's arguments: those of the option `in_shardings` of `jit`, or
    those that arguments have.
    """
    own, named = function.dynamic(args, kwargs)
    leaves = array_trees.tree_leaves((own, named))
    given = function.shardings_of(own) if isinstance(function, DividedFunction) else []
    wanted = [*given, *[None] * (len(leaves) - len(given))]
    found = [_stated(x, own) for x, own in zip(leaves, wanted, strict=True)]
    meshes = {one.mesh.abstract_mesh for one in found if one is not None}
    if not meshes:
        return
    if len(meshes) > 1:
        raise ValueError(f"export: arguments of {name} are on several meshes: {meshes}")
    (mesh,) = meshes
    operation = mlir.functions(module)[name]
    arguments = mlir.arguments(operation)
    ranks = [len(mlir.shape_of(argument)) for argument in arguments]
    pairs = zip(found, ranks, strict=True)
    specs = [None if one is None else spec_of(one, rank) for one, rank in pairs]
    results: list[Any] = [None] * len(mlir.result_types(operation))
    axes = {str(axis): size for axis, size in mesh.shape_tuple}
    api.state_layouts(operation, api.StatedLayouts(axes, specs, results))


def typed(
    avals: Sequence[ShapedArray], function: PjitFunction[..., Any], args: Any, kwargs: Any
) -> list[ShapedArray]:
    """Return the types of a function's arguments with their layouts along explicit axes."""
    leaves = array_trees.tree_leaves(function.dynamic(args, kwargs))
    told = [explicit_axes.type_of(x).told for x in leaves]
    return [
        aval if one is None else aval.update(sharding=one)
        for aval, one in zip(avals, told, strict=True)
    ]


def structs(avals: Sequence[ShapedArray]) -> list[ShapeDtypeStruct]:
    """Return arguments of these types, divided where the mesh of the context has their axes."""
    here = current_mesh().abstract_mesh
    tell = [a.told is not None and a.told.mesh == here for a in avals]
    return [
        ShapeDtypeStruct(a.shape, a.dtype, sharding=a.told if is_told else None)
        for a, is_told in zip(avals, tell, strict=True)
    ]


def _stated(x: Any, wanted: Sharding | None) -> NamedSharding | None:
    found = wanted
    if found is None:
        found = sharding_of(x) if isinstance(x, Array) else getattr(x, "sharding", None)
    return found if isinstance(found, NamedSharding) and found.mesh.size > 1 else None


def shardings(
    mesh: Mesh | AbstractMesh, specs: Sequence[Any], what: str, axes: dict[str, int]
) -> tuple[NamedSharding | None, ...]:
    """Return the layouts of arrays on a mesh that has the axes of an exported function.

    Raises:
        ValueError: it has others.
    """
    if {str(name): size for name, size in mesh.shape_tuple} != axes:
        raise ValueError(f"{what}: expected a mesh of the axes {axes}, got {mesh}")
    names = {str(name): name for name in mesh.axis_names}

    def sharding(spec: Any) -> NamedSharding:
        entries = [tuple(names[axis] for axis in one) for one in spec]
        return NamedSharding(mesh, PartitionSpec(*entries))

    return tuple(None if spec is None else sharding(spec) for spec in specs)


def divided(arrays: Sequence[Array], layouts: api.StatedLayouts, what: str) -> list[Array]:
    """Return the arguments of a call on the devices that the function is for: those that they are
    on, those of the mesh of the context, or the first that there are. Where there are fewer, one
    device computes what all of them do.

    Raises:
        ValueError: they are on another number of devices.
    """
    mesh = _mesh_of(arrays, layouts) or _mesh(arrays, layouts, what)
    if mesh is None:
        return list(arrays)
    found = shardings(mesh, layouts.in_specs, what, layouts.mesh)
    return [
        x if wanted is None or not isinstance(x, ConcreteArray) else constrained(x, wanted)
        for x, wanted in zip(arrays, found, strict=True)
    ]


def _mesh_of(arrays: Sequence[Array], layouts: api.StatedLayouts) -> Mesh | None:
    """Return the mesh that an argument is on, or that of the context, if it has the axes that the
    function is for; None if neither does.
    """
    places = [sharding_of(x) for x in arrays if isinstance(x, ConcreteArray)]
    meshes = [place.mesh for place in places if isinstance(place, NamedSharding)]
    for mesh in (*meshes, current_mesh()):
        axes = [(str(name), size) for name, size in mesh.shape_tuple]
        if isinstance(mesh, Mesh) and axes == list(layouts.mesh.items()):
            return mesh
    return None


def _mesh(arrays: Sequence[Array], layouts: api.StatedLayouts, what: str) -> Mesh | None:
    shape, names = tuple(layouts.mesh.values()), tuple(layouts.mesh)
    count = int(np.prod(shape))
    there: Any = device_of(arrays, what)
    if isinstance(there, MeshDevice):
        if len(there.devices) != count:
            raise ValueError(
                f"{what} was exported for {count} devices and is called with arrays on "
                f"{len(there.devices)}"
            )
        devices = list(there.devices)
    elif current_mesh().size == count:
        devices = list(current_mesh().devices.flat)
    else:
        devices = backend.devices(None if there is None else there.platform)[:count]
        if len(devices) < count:
            return None
    found = np.empty(count, dtype=object)
    found[:] = devices
    return Mesh(found.reshape(shape), names)
