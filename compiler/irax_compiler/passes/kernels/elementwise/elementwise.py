"""The pass elementwise, which makes kernels of elementwise operations on views of arrays."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from irax_compiler import mlir
from irax_compiler.effects import remove_dead_operations
from irax_compiler.importing import deferred
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value
from irax_compiler.ops import parts
from irax_compiler.ops.slicing import Concatenate, Reverse
from irax_compiler.passes.core import Pass, register_pass, walk
from irax_compiler.passes.kernels.elementwise.joins import joints
from irax_compiler.passes.kernels.elementwise.search import Search
from irax_compiler.passes.kernels.elementwise.seeds import (
    is_barrier_of_parts,
    is_conversion_of_parts,
    is_elementwise,
    is_moved,
)
from irax_compiler.passes.kernels.executables import Executables
from irax_compiler.passes.kernels.growth import running_blocks
from irax_compiler.sizes import InconclusiveDimensionOperation

if TYPE_CHECKING:
    from irax_compiler.passes.kernels.elementwise import kernels
    from irax_compiler.passes.kernels.moves import copies
else:
    (kernels,) = deferred("irax_compiler.passes.kernels.elementwise", "kernels")
    (copies,) = deferred("irax_compiler.passes.kernels.moves", "copies")


@register_pass
class Elementwise(Pass):
    """Makes kernels of elementwise operations on many elements, if they read iotas, or arrays that
    are broadcast, strided, sliced or transposed, and of such arrays alone. IREE has slow tiles for
    these where extents are no powers of two. So are operations on complex numbers, of which IREE
    has no vectors, those with several results, those whose results are concatenated, and those that
    can write results over donated arrays. Equal kernels are one executable.
    """

    name: ClassVar[str] = "elementwise"

    def run(self, module: Module) -> None:
        executables = Executables(module)
        for function in mlir.functions(module).values():
            blocks = running_blocks(function)
            for block in blocks:
                _divide_in_parts(block)
            for block in blocks:
                _rewrite(block, executables)


def _divide_in_parts(block: Block) -> None:
    """Let kernels compute with the parts of complex numbers."""
    for operation in walk(block):
        if is_barrier_of_parts(operation):
            mlir.replace(operation, list(operation.operands))
        elif is_conversion_of_parts(operation):
            with InsertionPoint(operation), operation.location:
                mlir.replace(operation, [parts.by_parts(operation, {})])


def _rewrite(block: Block, executables: Executables) -> None:
    seeds: dict[Value, Operation] = {}
    for operation in walk(block):
        if is_elementwise(operation) or is_moved(operation) or operation.name == Concatenate.name:
            seeds[operation.results[0]] = operation
    count = len(seeds)
    search = Search(block)
    while seeds:
        _, seed = seeds.popitem()
        with suppress(InconclusiveDimensionOperation):  # then it is IREE's
            found = search.cluster_of(seed)
            if found is None:
                continue
            search = Search(block)
            kernels.replace(found, executables)
            joined = joints(seed) if seed.name == Concatenate.name else []
            for operation in (*joined, *reversed(found.operations)):
                seeds.pop(operation.results[0], None)
                operation.erase()
    if count:
        remove_dead_operations(block)
    for operation in walk(block):
        if operation.name == Reverse.name:
            _copy(operation, copies.reversed_copy)
        elif operation.name == Concatenate.name:
            _copy(operation, copies.concatenated_copy)


def _copy(operation: Operation, copy: Callable[[Operation], Value | None]) -> None:
    """Make a move of elements that no kernel does beside others a kernel of its own, if it pays."""
    with (
        InsertionPoint(operation),
        operation.location,
        suppress(InconclusiveDimensionOperation),
    ):
        found = copy(operation)
        if found is not None:
            mlir.replace(operation, [found])
