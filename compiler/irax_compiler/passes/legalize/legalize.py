"""The pass that applies the cures a target needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from irax_compiler.mlir import Block, Module, Operation
from irax_compiler.passes.core import Pass, PassError, register_pass
from irax_compiler.passes.legalize import (
    arguments,
    contraction,
    floats,
    indexing,
    integers,
    sorting,
)
from irax_compiler.passes.legalize.cure import Cure

CURES: dict[str, list[Cure]] = {
    "iree-cpu": [
        indexing.gather_beyond_the_array,
        indexing.empty_scatter,
        indexing.scatter_of_one_window,
        indexing.scatter_by_rows,
        sorting.stable_sort,
        integers.add_of_booleans,
        integers.reverse_of_unsigned,
        floats.saturating_convert,
        contraction.empty_contraction,
        contraction.narrow_contraction,
        contraction.narrow_reduction,
        arguments.update_of_argument,
    ],
}
"""For each target the cures it needs. Each goes over the whole module once, in this order: it sees
what those before it built, and never what it built itself."""


@register_pass
@dataclass
class Legalize(Pass):
    """Leaves a module that `target` compiles, and that means on it what StableHLO says it means,
    as far as the target's defects are known. Types of functions stay as they are.
    """

    name: ClassVar[str] = "legalize"
    target: str = "iree-cpu"

    def run(self, module: Module) -> None:
        if self.target not in CURES:
            raise PassError(
                f"legalize: unknown target {self.target!r}; expected one of {', '.join(CURES)}"
            )
        named: dict[str, list[Operation]] | None = None
        for cure in CURES[self.target]:
            if named is None:
                named = _by_name(module)
            matching = [operation for name in cure.operations for operation in named.get(name, ())]
            applied = [cure.apply(operation) for operation in matching]
            if any(applied):
                named = None


def _by_name(module: Module) -> dict[str, list[Operation]]:
    named: dict[str, list[Operation]] = {}
    for operation in _nested(module.body):
        named.setdefault(operation.name, []).append(operation)
    return named


def _nested(block: Block) -> Iterator[Operation]:
    """The operations of a block and of all regions inside it, each before what it holds."""
    for view in block.operations:
        operation = view.operation
        yield operation
        for region in operation.regions:
            for inner in region:
                yield from _nested(inner)
