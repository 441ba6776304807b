"""Dispatches of kernels in the place of reductions and the operations around them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from irax_compiler import mlir
from irax_compiler.effects import is_dead
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.passes.core import running_blocks, walk
from irax_compiler.passes.kernels.executables import (
    Executables,
    dispatch,
    sizes_of_function,
    workers_of,
)
from irax_compiler.passes.kernels.loops.memory import bound, bound_type, unbound
from irax_compiler.passes.kernels.reductions.clusters import (
    FEWEST,
    cluster_of,
    domain_of,
    is_dividable,
)
from irax_compiler.passes.kernels.reductions.columns import Columns
from irax_compiler.passes.kernels.reductions.kernels import PARTS, Kernel, Shares
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
    calls = _Calls(module, is_invariant)
    for function in mlir.functions(module).values():
        workers = shared_by or workers_of(function)
        for block in running_blocks(function):
            _rewrite(block, calls, workers)


def _rewrite(block: Block, calls: _Calls, workers: int) -> None:
    seeds = {o.results[0]: o for o in walk(block) if o.name == Reduce.name}
    while seeds:
        seed = seeds.pop(next(iter(seeds)))
        with suppress(InconclusiveDimensionOperation):  # then it is IREE's
            for operation in reversed(_replaced(seed, calls, workers)):
                seeds.pop(operation.results[0], None)
                if is_dead(operation):
                    operation.erase()


def _replaced(seed: Operation, calls: _Calls, workers: int) -> Sequence[Operation]:
    """Replace what a reduction and operations around it compute by what a kernel gives; return
    these operations, none if no kernel computes them.
    """
    domain = domain_of(seed, 1 if calls.is_invariant else FEWEST)
    if domain is None:
        return ()
    divided = workers > 1 and is_dividable(domain) and not calls.is_invariant
    cluster = cluster_of(seed, domain, divided)
    if cluster is None:
        return ()
    kind = Rows if domain.innermost in domain.reduced else Columns
    kernel = kind(cluster, Shares(workers, PARTS * workers if divided else 1))
    with InsertionPoint(cluster.place), seed.location:
        results = calls.called(kernel)
    for x, result in zip(cluster.given, results, strict=True):
        x.replace_all_uses_with(result)
    return cluster.members


@dataclass
class _Calls:
    """The calls of a module's kernels."""

    module: Module
    is_invariant: bool

    def __post_init__(self) -> None:
        self.executables = Executables(self.module)

    def called(self, kernel: Kernel) -> list[Value]:
        """Build a call of a kernel, and return what it gives."""
        given, parts = kernel.cluster.given, kernel.shares.parts
        operands = list(map(bound, kernel.arrays))
        types = [bound_type(x, (parts,) if parts > 1 else ()) for x in given]
        overwritten = kernel.overwritten
        bindings = len(operands) + len(types) - len(overwritten)
        ties = {
            i: kernel.arrays.index(overwritten[x]) for i, x in enumerate(given) if x in overwritten
        }
        sizes = sizes_of_function()
        name = self.executables.add_kernel(
            *("reduction", kernel.counts, bindings, kernel.build, sizes, kernel.division),
            description=kernel.description,
        )
        results = dispatch(name, operands, types, ties, sizes=sizes)
        if parts == 1:
            return [unbound(y, x) for x, y in zip(given, results, strict=True)]
        return [
            _folded(o, unbound(y, x))
            for o, x, y in zip(map(mlir.definition, given), given, results, strict=True)
        ]


def _folded(reduction: Operation | None, parts: Value) -> Value:
    """Fold what the parts of a domain gave."""
    op = None if reduction is None else read_as(Reduce, reduction)
    assert op is not None
    assert reduction is not None
    return replace(op, dimensions=(0,))(parts, reduction.operands[1])
