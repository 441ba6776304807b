"""Dispatches of kernels in the place of reductions and the operations around them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from irax_compiler import mlir
from irax_compiler.effects import is_dead
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.passes.core import walk
from irax_compiler.passes.kernels.executables import Executables, workers_of
from irax_compiler.passes.kernels.growth import running_blocks
from irax_compiler.passes.kernels.reductions.clusters import (
    FEWEST,
    cluster_of,
    domain_of,
    is_dividable,
)
from irax_compiler.passes.kernels.reductions.columns import Columns
from irax_compiler.passes.kernels.reductions.kernels import PARTS, Shares
from irax_compiler.passes.kernels.reductions.rows import Rows
from irax_compiler.passes.rewriting import read_as
from irax_compiler.sizes import InconclusiveDimensionOperation


def write_dispatches(module: Module, shared_by: int, is_invariant: bool = False) -> None:
    """Replace the reductions of a module by dispatches.

    Args:
        module: the module, which is rewritten in place.
        shared_by: the number of workgroups that share what is folded; 0 means one per processor.
        is_invariant: True if the bits of a result must not depend on the number of results: small
            reductions are replaced, too, and no result is folded by several workgroups.
    """
    executables = Executables(module)
    for function in mlir.functions(module).values():
        workers = shared_by or workers_of(function)
        for block in running_blocks(function):
            _rewrite(block, executables, workers, is_invariant)


def _rewrite(block: Block, executables: Executables, workers: int, is_invariant: bool) -> None:
    seeds = {o.results[0]: o for o in walk(block) if o.name == Reduce.name}
    while seeds:
        seed = seeds.pop(next(iter(seeds)))
        with suppress(InconclusiveDimensionOperation):  # then it is IREE's
            for operation in reversed(_replaced(seed, executables, workers, is_invariant)):
                seeds.pop(operation.results[0], None)
                if is_dead(operation):
                    operation.erase()


def _replaced(
    seed: Operation, executables: Executables, workers: int, is_invariant: bool
) -> Sequence[Operation]:
    """Replace what a reduction and operations around it compute by what a kernel gives; return
    these operations, none if no kernel computes them.
    """
    domain = domain_of(seed, 1 if is_invariant else FEWEST)
    if domain is None:
        return ()
    divided = workers > 1 and is_dividable(domain) and not is_invariant
    cluster = cluster_of(seed, domain, divided)
    if cluster is None:
        return ()
    kind = Rows if domain.innermost in domain.reduced else Columns
    kernel = kind(cluster, Shares(workers, PARTS * workers if divided else 1))
    with InsertionPoint(cluster.place), seed.location:
        results = kernel.called(executables)
        if kernel.parts > 1:
            sums = map(mlir.definition, kernel.given)
            results = [_folded(o, y) for o, y in zip(sums, results, strict=True)]
    for x, result in zip(cluster.given, results, strict=True):
        x.replace_all_uses_with(result)
    return cluster.members


def _folded(reduction: Operation | None, parts: Value) -> Value:
    """Fold the partial results of the parts of a domain."""
    op = None if reduction is None else read_as(Reduce, reduction)
    assert op is not None
    assert reduction is not None
    return replace(op, dimensions=(0,))(parts, reduction.operands[1])
