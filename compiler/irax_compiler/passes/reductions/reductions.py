"""The pass reductions, which makes kernels of reductions and the operations around them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.effects import is_dead
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value, dtype_of, shape_of
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import Pass, register_pass, walk
from irax_compiler.passes.executables import add_executable, dispatch, workers_of
from irax_compiler.passes.loops.memory import held_dtype, released, seen_as
from irax_compiler.passes.reductions.clusters import cluster_of, domain_of, is_dividable
from irax_compiler.passes.reductions.columns import Columns
from irax_compiler.passes.reductions.kernels import Kernel, Shares
from irax_compiler.passes.reductions.rows import Rows
from irax_compiler.passes.rewriting import read_as


@register_pass
@dataclass
class Reductions(Pass):
    """Makes kernels of reductions, together with the elementwise operations that compute what is
    reduced and, if what they read stays in the processor's cache, with those that use the results.
    Equal kernels are one executable.
    """

    name: ClassVar[str] = "reductions"
    workers: int = 0
    """The number of workgroups that share what is folded; 0 means one per processor."""

    def run(self, module: Module) -> None:
        executables = _Executables(module)
        for function in mlir.functions(module).values():
            workers = self.workers or workers_of(function)
            for block in function.regions[0]:
                _rewrite(block, executables, workers)


def _rewrite(block: Block, executables: _Executables, workers: int) -> None:
    seeds: dict[Value, Operation] = {}
    for operation in walk(block):
        if operation.name == Reduce.name:
            seeds[operation.results[0]] = operation
        elif traits_of(operation).captures:
            for region in operation.regions:
                for inner in region:
                    _rewrite(inner, executables, workers)
    while seeds:
        seed = seeds.pop(next(iter(seeds)))
        domain = domain_of(seed)
        if domain is None:
            continue
        divided = workers > 1 and is_dividable(domain)
        cluster = cluster_of(seed, domain, divided)
        if cluster is None:
            continue
        kind = Rows if domain.innermost in domain.reduced else Columns
        kernel = kind(cluster, Shares(workers, PARTS * workers if divided else 1))
        with InsertionPoint(cluster.place), seed.location:
            results = executables.called(kernel)
        for x, result in zip(cluster.given, results, strict=True):
            x.replace_all_uses_with(result)
        for operation in reversed(cluster.members):
            seeds.pop(operation.results[0], None)
            if is_dead(operation):
                operation.erase()


PARTS = 2
"""The parts of a domain for each worker, since some workers begin late."""


@dataclass
class _Executables:
    """The kernels of a module, each once."""

    module: Module
    names: dict[str, str] = field(default_factory=dict)
    """Their names, by their code."""

    def called(self, kernel: Kernel) -> list[Value]:
        """Build a call of a kernel, and return what it gives."""
        given, parts = kernel.cluster.given, kernel.shares.parts
        operands = [_held(x) for x in kernel.arrays]
        types = [_type(x, parts) for x in given]
        name = self._executable(kernel, len(operands) + len(types))
        results = dispatch(name, operands, types)
        if parts == 1:
            return [_released(y, x) for x, y in zip(given, results, strict=True)]
        return [
            _folded(o, _released(y, x))
            for o, x, y in zip(map(mlir.definition, given), given, results, strict=True)
        ]

    def _executable(self, kernel: Kernel, bindings: int) -> str:
        name = mlir.unique_name(self.module, "reduction")
        executable = add_executable(
            self.module, name, kernel.counts, bindings, lambda _, arrays: kernel.build(arrays)
        )
        known = self.names.setdefault(re.sub(rf"@{name}\b", "@", str(executable)), name)
        if known != name:
            executable.erase()
        return known


def _held(x: Value) -> Value:
    return x if dtype_of(x) == np.bool_ else seen_as(x, held_dtype(x))


def _type(x: Value, parts: int) -> mlir.Type:
    dtype = dtype_of(x) if dtype_of(x) == np.bool_ else held_dtype(x)
    return mlir.tensor_type((parts, *shape_of(x)) if parts > 1 else shape_of(x), dtype)


def _released(x: Value, like: Value) -> Value:
    return released(x, dtype_of(like)) if dtype_of(like) != np.bool_ else x


def _folded(reduction: Operation | None, parts: Value) -> Value:
    """Fold what the parts of a domain gave."""
    op = None if reduction is None else read_as(Reduce, reduction)
    assert op is not None
    assert reduction is not None
    return replace(op, dimensions=(0,))(parts, reduction.operands[1])
