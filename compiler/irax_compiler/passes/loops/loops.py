"""The pass that gives IREE its loops in the form in which it runs them fast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module
from irax_compiler.passes.core import Pass, register_pass
from irax_compiler.passes.loops.kernels import as_kernel
from irax_compiler.passes.loops.rows import with_rows


@register_pass
@dataclass
class Loops(Pass):
    """Makes one kernel of a loop over scalars or few elements, and puts rows that others stack
    where they belong. Nothing else changes.
    """

    name: ClassVar[str] = "loops"

    def run(self, module: Module) -> None:
        for function in mlir.functions(module).values():
            for block in function.regions[0]:
                _rewrite(block)


def _rewrite(block: Block) -> None:
    """Goes from the outside in: a loop within a loop may belong into its kernel."""
    for view in list(block.operations):
        operation = view.operation
        if operation.name == "stablehlo.while":
            with InsertionPoint(operation), operation.location:
                results = as_kernel(operation) or with_rows(operation)
            if results is not None:
                for old, new in zip(operation.results, results, strict=True):
                    old.replace_all_uses_with(new)
                operation.erase()
                continue
        for region in operation.regions:
            for inner in region:
                _rewrite(inner)
