"""The pass part-gathers, which has IREE compute gathers of single elements in kernels without
reductions.

IREE writes the kernel of a reduction in vectors, and what is computed of its result with it. Where
one element is, and an element of another array is read there whose index is an array's, IREE 3.13
ends the process: its pass `iree-codegen-generic-vectorization` asks for the last dimension of a
vector without dimensions.
"""

from __future__ import annotations

from math import prod
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, Value, shape_of
from irax_compiler.ops.barrier import barrier
from irax_compiler.ops.indexing.gather_scatter import Gather
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import Pass, nested, register_pass, runs_blocks, walk
from irax_compiler.passes.rewriting import put_barrier_behind


@register_pass
class PartGathers(Pass):
    """Puts fusion barriers behind gathers of single elements, or what is computed of them, where
    they meet an element that is computed of a reduction, a product or a convolution.
    """

    name: ClassVar[str] = "part-gathers"

    def run(self, module: Module) -> bool | None:
        changed = False
        for function in mlir.functions(module).values():
            gathers = [o for o in nested(function) if _is_of_element(o)]
            for block in dict.fromkeys(o.block for o in gathers):
                changed |= _parted(block)
        return changed


def _is_of_element(operation: Operation) -> bool:
    return operation.name == Gather.name and _is_single(operation.results[0])


def _is_single(x: Value) -> bool:
    return isinstance(x.type, mlir.RankedTensorType) and prod(shape_of(x)) == 1


def _parted(block: Block) -> bool:
    """Put barriers into a block; return True if there are any."""
    gathered: set[Value] = set()
    """Single elements that a kernel may compute with the gather that they come from."""
    reduced: set[Value] = set()
    """Arrays that a kernel may compute with the reduction that they come from."""
    changed = False
    for operation in list(walk(block)):
        operands = list(operation.operands)
        if runs_blocks(operation):
            continue
        if _is_of_element(operation):
            gathered.add(operation.results[0])
        elif traits_of(operation).reduces:
            reduced.update(operation.results)
        elif operation.name != barrier.name:
            of_gather = [x for x in operands if x in gathered]
            of_reduction = not reduced.isdisjoint(operands)
            single = [x for x in operation.results if _is_single(x)]
            if single and of_gather and of_reduction:
                for x in dict.fromkeys(of_gather):
                    put_barrier_behind(x)
                    gathered.remove(x)
                changed = True
            elif of_gather:
                gathered.update(single)
            if of_reduction:
                reduced.update(operation.results)
    return changed
