"""Programs of whole arrays, partitioned, and evaluated device by device."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from irax_compiler import lowering, mlir
from irax_compiler.ops.control_flow.shard_map import Spec
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.lockstep import for_each_device
from irax_compiler.passes.core import find_function

Arrays = list[np.ndarray]
Mesh = dict[str, int]


def shard(extents: Sequence[int], spec: Spec, mesh: Mesh, place: Mapping[str, int]) -> tuple:
    """The slices of an array that are the shard of the device at a place."""
    slices = []
    for extent, axes in zip(extents, spec, strict=True):
        number = 0
        for axis in axes:
            number = number * mesh[axis] + place[axis]
        length = extent // math.prod(mesh[axis] for axis in axes)
        slices.append(slice(number * length, (number + 1) * length))
    return tuple(slices)


def random_spec(rng: np.random.Generator, extents: Sequence[int], mesh: Mesh) -> Spec:
    """Axes of the mesh for dimensions that they divide."""
    spec: list[tuple[str, ...]] = [()] * len(extents)
    for axis in rng.permutation(list(mesh)):
        fitting = [
            d
            for d, n in enumerate(extents)
            if n and n % (mesh[axis] * math.prod(mesh[a] for a in spec[d])) == 0
        ]
        if fitting and rng.random() < 0.8:
            d = rng.choice(fitting)
            spec[d] = (*spec[d], str(axis))
    return tuple(spec)


def evaluate_partitioned(
    module: mlir.Module, arrays: Arrays, mesh: Mesh, specs: Sequence[Spec]
) -> tuple[Arrays, Sequence[Spec]]:
    """The results of @main for shards of the arguments, put together again, and their specs."""
    results = len(mlir.result_types(find_function(module, "main")))
    program = lowering.partition(module, "main", mesh, specs, [None] * results, target="")
    layouts = lowering.layouts_of_results(program, "main")
    evaluator = Evaluator(program)

    def run(place: Mapping[str, int]) -> Arrays:
        pairs = zip(arrays, specs, strict=True)
        return evaluator("main", [x[shard(x.shape, s, mesh, place)] for x, s in pairs])

    found = for_each_device(mesh, run)
    wholes: Arrays = []
    for parts, spec in zip(zip(*(r for _, r in found), strict=True), layouts, strict=True):
        extents = [
            n * math.prod(mesh[a] for a in axes)
            for n, axes in zip(parts[0].shape, spec, strict=True)
        ]
        whole = np.empty(extents, parts[0].dtype)
        for (place, _), part in zip(found, parts, strict=True):
            whole[shard(extents, spec, mesh, place)] = part
        wholes.append(whole)
    return wholes, layouts
