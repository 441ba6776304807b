"""The pass elementwise, which makes kernels of elementwise operations on views of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.effects import remove_dead_operations
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import Pass, register_pass, runs_blocks, walk
from irax_compiler.passes.elementwise.clusters import Cluster, cluster_of, is_elementwise, is_moved
from irax_compiler.passes.elementwise.kernels import Kernel
from irax_compiler.passes.executables import Executables, add_executable, dispatch
from irax_compiler.passes.loops.memory import bound, bound_type, unbound


@register_pass
@dataclass
class Elementwise(Pass):
    """Makes kernels of elementwise operations on many elements, if they read arrays that are
    broadcast, strided, sliced or transposed, or count, and of values that are such an array. IREE
    has slow tiles for these where extents are no powers of two. So are those that can write results
    over donated arrays. Equal kernels are one executable.
    """

    name: ClassVar[str] = "elementwise"

    def run(self, module: Module) -> None:
        executables = Executables(module)
        for function in mlir.functions(module).values():
            for block in function.regions[0]:
                _rewrite(block, executables)


def _rewrite(block: Block, executables: Executables) -> None:
    seeds: dict[Value, Operation] = {}
    for operation in walk(block):
        if is_elementwise(operation) or is_moved(operation):
            seeds[operation.results[0]] = operation
        elif runs_blocks(operation):
            for region in operation.regions:
                for inner in region:
                    _rewrite(inner, executables)
    count = len(seeds)
    while seeds:
        _, seed = seeds.popitem()
        found = cluster_of(seed)
        if found is None:
            continue
        _replace(*found, executables)
        for operation in reversed(found[0].members):
            seeds.pop(operation.results[0], None)
            operation.erase()
    if count:
        remove_dead_operations(block)


def _replace(cluster: Cluster, place: Operation, executables: Executables) -> None:
    kernel = Kernel(cluster)
    arrays, overwritten = cluster.arrays, cluster.overwritten
    bindings = len(arrays) + len(cluster.given) - len(overwritten)
    ties = {
        i: arrays.index(overwritten[x]) for i, x in enumerate(cluster.given) if x in overwritten
    }
    with InsertionPoint(place), place.location:
        name = executables.add(
            "elementwise",
            lambda name: add_executable(
                executables.module,
                name,
                kernel.counts,
                bindings,
                lambda _, arrays: kernel.build(arrays),
            ),
        )
        operands = list(map(bound, arrays))
        results = dispatch(name, operands, [bound_type(x) for x in cluster.given], ties)
        for x, result in zip(cluster.given, results, strict=True):
            x.replace_all_uses_with(unbound(result, x))
