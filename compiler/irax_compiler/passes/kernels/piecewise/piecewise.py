"""The pass piecewise, which makes kernels of arrays that are put together of parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from irax_compiler import mlir
from irax_compiler.effects import remove_dead_operations
from irax_compiler.importing import deferred
from irax_compiler.mlir import Block, Module, Value
from irax_compiler.ops.indexing.dynamic_slices import JOINTS
from irax_compiler.passes.core import Pass, register_pass, walk
from irax_compiler.passes.kernels.executables import Executables
from irax_compiler.passes.kernels.growth import running_blocks
from irax_compiler.passes.kernels.piecewise.search import Facts, cluster_of

if TYPE_CHECKING:
    from irax_compiler.passes.kernels.elementwise import kernels
else:
    (kernels,) = deferred("irax_compiler.passes.kernels.elementwise", "kernels")


@register_pass
class Piecewise(Pass):
    """Makes kernels of elementwise operations on arrays that are padded, concatenated, or updated
    at places that are known, such as those of a stencil with boundaries. A kernel computes each
    part of its results by an expression of its own, and stores none of the arrays between. Equal
    kernels are one executable.
    """

    name: ClassVar[str] = "piecewise"

    def run(self, module: Module) -> None:
        executables = Executables(module)
        for function in mlir.functions(module).values():
            for block in running_blocks(function):
                _rewrite(block, executables)


def _rewrite(block: Block, executables: Executables) -> None:
    operations = list(walk(block))
    if not any(operation.name in JOINTS for operation in operations):
        return
    found = [o.results[0] for o in operations if len(o.results) == 1]
    numbers: dict[Value, int] = {x: number for number, x in enumerate(found)}
    done: set[Value] = set()
    facts = Facts(block, numbers)
    for x in reversed(found):
        root = mlir.definition(x)
        if root is None or x in done:
            continue
        cluster = cluster_of(root, numbers, done, facts)
        if cluster is not None:
            kernels.replace(cluster, executables)
            facts.forget_operands()
    remove_dead_operations(block)
