"""The pass carry-unused-results, which gives loops as many loop-carried arrays as results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Type, Value
from irax_compiler.passes.core import Pass, nested, register_pass

_EMPTY, _BARRIER = "flow.tensor.empty", "util.optimization_barrier"


@register_pass
class CarryUnusedResults(Pass):
    """Lets a `scf.while` of IREE's dialect flow carry each result that its next step does not read,
    and return each array that it carries and that its first region does not pass on.

    Such a result is what a loop overwrites before it reads it, and returns; such an array is what
    just its first region reads. The pass `iree-stream-conversion` of IREE 3.13 takes the
    loop-carried arrays for the arguments of the second region, crashes where that has more, and
    makes a loop that does not verify where it has fewer. The region that gets more has a barrier on
    it, which keeps IREE from removing it.
    """

    name: ClassVar[str] = "carry-unused-results"

    def run(self, module: Module) -> None:
        for loop in [o for o in nested(module.operation) if o.name == "scf.while"]:
            places = _unread(loop)
            kept = _kept(loop)
            if places and len(loop.operands) < len(loop.results):
                _carry(loop, places)
            elif kept:
                _return(loop, kept)


def _unread(loop: Operation) -> list[int]:
    """Return the numbers of results of known sizes that a loop's step does not read."""
    arguments = loop.regions[1].blocks[0].arguments
    return [
        i
        for i, (x, result) in enumerate(zip(arguments, loop.results, strict=True))
        if not mlir.num_uses(x) and mlir.num_uses(result) and _has_known_sizes(x)
    ]


def _kept(loop: Operation) -> list[int]:
    """Return as many loop-carried arrays that the first region does not pass on as there are more
    than results, of those whose sizes are known; first those that each step makes anew.
    """
    first, second = (region.blocks[0] for region in loop.regions)
    passed = set(mlir.terminator(first).operands)
    made = list(mlir.terminator(second).operands)
    found = [i for i, x in enumerate(first.arguments) if x not in passed and _has_known_sizes(x)]
    found.sort(key=lambda i: mlir.is_argument(made[i]))
    return found[: max(len(loop.operands) - len(loop.results), 0)]


def _has_known_sizes(x: Value) -> bool:
    type_ = x.type
    return isinstance(type_, mlir.RankedTensorType) and type_.has_static_shape


def _carry(loop: Operation, places: Sequence[int]) -> None:
    """Replace a loop by one that carries results at some places as well."""
    types = [loop.results[i].type for i in places]
    with InsertionPoint(loop), loop.location:
        starts = [mlir.emit(_EMPTY, [], {}, [t]).results[0] for t in types]
    first, second = _replaced(loop, starts, [])
    _add_arguments(first, types)
    _end_with(second, [second.arguments[i] for i in places])


def _return(loop: Operation, places: Sequence[int]) -> None:
    """Replace a loop by one that returns what it carries at some places as well."""
    types = [loop.operands[i].type for i in places]
    first, second = _replaced(loop, [], types)
    _add_arguments(second, types)
    _end_with(first, [first.arguments[i] for i in places])


def _replaced(loop: Operation, starts: Sequence[Value], types: Sequence[Type]) -> list[Block]:
    """Replace a loop by one with more operands, and results of more types; return its blocks."""
    results = [*(x.type for x in loop.results), *types]
    with InsertionPoint(loop), loop.location:
        new = mlir.emit("scf.while", [*loop.operands, *starts], {}, results, regions=2)
    for old, region in zip(list(loop.regions), new.regions, strict=True):
        old.blocks[0].append_to(region)
    for old, result in zip(loop.results, new.results, strict=False):
        old.replace_all_uses_with(result)
    loop.erase()
    return [region.blocks[0] for region in new.regions]


def _add_arguments(block: Block, types: Sequence[Type]) -> None:
    """Give a block arguments that IREE does not remove."""
    location = mlir.terminator(block).location
    added = [block.add_argument(t, location) for t in types]
    with InsertionPoint.at_block_begin(block), location:
        for x in added:
            mlir.emit(_BARRIER, [x], {}, [x.type])


def _end_with(block: Block, more: Sequence[Value]) -> None:
    """Pass more values on at the end of a block."""
    last = mlir.terminator(block)
    with InsertionPoint(last), last.location:
        mlir.emit(last.name, [*last.operands, *more], {}, [])
    last.erase()
