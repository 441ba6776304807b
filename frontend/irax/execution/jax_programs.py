"""Functions that `jax.export` wrote: their arguments, their names and their structures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irax.core.trees import array_trees
from irax.execution.export_trees import make
from irax_compiler import api, mlir
from irax_compiler.containers import ArrayType, Export
from irax_runtime import trees


def with_all_arguments(module: mlir.Module, main: str, export: Export) -> str:
    """Have the main function of a module take all arguments, those too that it does not use, and
    return its new name, which is that in JAX.
    """
    function = mlir.functions(module)[main]
    name = export.name if export.name == main else mlir.unique_name(module, export.name)
    if len(export.kept) == len(export.in_types):
        function.attributes["sym_name"] = mlir.string(name)
        return name
    given = mlir.arguments(function)
    if len(given) != len(export.kept) or max(export.kept, default=-1) >= len(export.in_types):
        raise ValueError(f"{export.name}: damaged: its module takes {len(given)} arguments")
    kept = dict(zip(export.kept, given, strict=True))
    types = [kept[i].type if i in kept else _type(t) for i, t in enumerate(export.in_types)]
    whole = mlir.new_function(module, name, types, function.location, public=True)
    env = {kept[i]: x for i, x in enumerate(mlir.arguments(whole)) if i in kept}
    *operations, last = (view.operation for view in mlir.body(function).operations)
    with mlir.InsertionPoint(mlir.body(whole)):
        mlir.clone_all(operations, env)
    mlir.finish_function(whole, [env[x] for x in last.operands])
    stated = api.layouts_of(module, main)
    if stated is not None:
        specs = dict(zip(export.kept, stated.in_specs, strict=True))
        in_specs = [specs.get(i) for i in range(len(types))]
        api.state_layouts(whole, api.StatedLayouts(stated.mesh, in_specs, stated.out_specs))
    function.erase()
    return name


def _type(found: ArrayType) -> mlir.Type:
    dtype = np.dtype(np.bool_) if found.dtype == "float0" else np.dtype(found.held.dtype)
    return mlir.tensor_type(tuple(map(int, found.held.shape)), dtype)


def structure(spec: Any, count: int) -> Any:
    """Return the structure of so many arrays.

    Raises:
        TypeError: it has objects of a class that is not registered.
    """
    return array_trees.tree_structure(trees.build(spec, [0] * count, _made))


def _made(name: str, data: str, children: Sequence[Any]) -> Any:
    """An object of a class by its name: JAX writes named tuples as those, too."""
    named = trees.NAMED_TUPLES.get(name)
    return make(name, data, children) if named is None else named(*children)
