"""Removal of results of branches that nobody uses, or that do not depend on the branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Operation, Value
from irax_compiler.passes.optimize.simplify.numbering import first_places
from irax_compiler.passes.rewriting import rewrites


@rewrites("stablehlo.if", "stablehlo.case")
def same_in_all_branches(branch: Operation) -> Mapping[Value, Value] | None:
    """if(p, x, x) -> x, for a result that is one value from outside in all branches."""
    returned = _returned(branch)
    if len(branch.regions) < 2:
        return None
    found: dict[Value, Value] = {
        x: values[0]
        for x, values in zip(branch.results, returned, strict=True)
        if len(set(values)) == 1 and mlir.num_uses(x)
    }
    return found or None


@rewrites("stablehlo.if", "stablehlo.case")
def unneeded_results(branch: Operation) -> Sequence[Value] | None:
    """A branch with results that nobody uses, or that are alike -> one with the others."""
    firsts = first_places(_returned(branch))
    kept = sorted({i for i, x in zip(firsts, branch.results, strict=True) if mlir.num_uses(x)})
    if not kept or len(kept) == len(firsts):
        return None
    types = [branch.results[i].type for i in kept]
    new = mlir.emit(branch.name, list(branch.operands), {}, types, regions=len(branch.regions))
    for region, old in zip(new.regions, branch.regions, strict=True):
        with InsertionPoint(Block.create_at_start(region, [])):
            _return_some(old.blocks[0], kept)
    places = dict(zip(kept, new.results, strict=True))
    return [places.get(i, x) for i, x in zip(firsts, branch.results, strict=True)]


def _return_some(block: Block, kept: Sequence[int]) -> None:
    """Copy a block to the insertion point, to return some of what it returns."""
    results = mlir.copy_block(block, {})
    mlir.emit("stablehlo.return", [results[i] for i in kept], {}, [])


def _returned(branch: Operation) -> list[tuple[Value, ...]]:
    """Return, for each result, what the branches return for it."""
    blocks = [region.blocks[0] for region in branch.regions]
    return list(zip(*(mlir.terminator(block).operands for block in blocks), strict=True))
