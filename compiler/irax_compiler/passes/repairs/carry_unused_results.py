"""The pass carry-unused-results, which gives loops as many loop-carried arrays as results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import Pass, nested, register_pass

_EMPTY, _BARRIER = "flow.tensor.empty", "util.optimization_barrier"


@register_pass
class CarryUnusedResults(Pass):
    """Lets a `scf.while` of IREE's dialect flow carry each result that its next step does not read.

    Such a result is what a loop overwrites before it reads it, and returns. The pass
    `iree-stream-conversion` of IREE 3.13 takes the loop-carried arrays for the arguments of the
    second region, and crashes where it has more. The first region has a barrier on what it gets,
    which keeps IREE from removing it.
    """

    name: ClassVar[str] = "carry-unused-results"

    def run(self, module: Module) -> None:
        for loop in [o for o in nested(module.operation) if o.name == "scf.while"]:
            places = _unread(loop)
            if places and len(loop.operands) < len(loop.results):
                _carry(loop, places)


def _unread(loop: Operation) -> list[int]:
    """Return the results that the next step does not get, of those whose sizes are known."""
    arguments = loop.regions[1].blocks[0].arguments
    return [
        i
        for i, (x, result) in enumerate(zip(arguments, loop.results, strict=True))
        if not mlir.num_uses(x) and mlir.num_uses(result) and _has_known_sizes(x)
    ]


def _has_known_sizes(x: Value) -> bool:
    type_ = x.type
    return isinstance(type_, mlir.RankedTensorType) and type_.has_static_shape


def _carry(loop: Operation, places: Sequence[int]) -> None:
    """Replace a loop by one that carries results at some places as well."""
    types = [loop.results[i].type for i in places]
    with InsertionPoint(loop), loop.location:
        starts = [mlir.emit(_EMPTY, [], {}, [t]).results[0] for t in types]
        results = [x.type for x in loop.results]
        new = mlir.emit("scf.while", [*loop.operands, *starts], {}, results, regions=2)
    for old, region in zip(list(loop.regions), new.regions, strict=True):
        old.blocks[0].append_to(region)
    first, second = (region.blocks[0] for region in new.regions)
    carried = [first.add_argument(t, loop.location) for t in types]
    with InsertionPoint.at_block_begin(first), loop.location:
        for x in carried:
            mlir.emit(_BARRIER, [x], {}, [x.type])
    last = mlir.terminator(second)
    with InsertionPoint(last), last.location:
        mlir.emit("scf.yield", [*last.operands, *(second.arguments[i] for i in places)], {}, [])
    last.erase()
    for old, result in zip(loop.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    loop.erase()
