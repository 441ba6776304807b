"""Factorizations of small matrices, and solves with them, as kernels of their own: workgroups share
the matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Operation, Value, dtype_of, shape_of
from irax_compiler.ops import registers, shape
from irax_compiler.ops.registry import read
from irax_compiler.passes.kernels.code.loops import for_each
from irax_compiler.passes.kernels.executables import (
    SHARE,
    local_memory,
    memory,
    share,
    size_of_share,
)
from irax_compiler.passes.kernels.loops import launch, nests, triangles
from irax_compiler.passes.kernels.loops.arrays import Array
from irax_compiler.passes.kernels.moves import kernels

ROWS = 64
"""The most rows of a matrix, whose copy is on a workgroup's stack."""
WORK = 1 << 18
"""The most multiplications for a matrix: for more, a library has better use of the caches."""


def is_known(operation: Operation) -> bool:
    """True for matrices of which a kernel factors each, or solves with it, by substitution."""
    if not triangles.is_known(operation):
        return False
    *batch, rows, _ = shape_of(operation.operands[0])
    return rows <= ROWS and triangles.work(operation) // prod(batch) <= WORK


def dispatched(operation: Operation) -> Value:
    """Build the kernel of an operation, and its dispatch."""
    (result,), dtype = operation.results, dtype_of(operation.results[0])
    *batch, _, _ = shape_of(result)
    count = prod(batch)
    share_size = size_of_share(count, max(1, triangles.work(operation) * 4 // SHARE))
    operands = [_one_batch(x) for x in operation.operands]
    told = [repr(read(operation)), *(str(x.type) for x in operands), share_size]

    def body(bindings: list[Value]) -> None:
        extents = [shape_of(x) for x in (*operands, operands[-1])]
        arrays = [_array(*each, dtype) for each in zip(bindings, extents, strict=True)]
        block = InsertionPoint.current.block
        first, end = share(count, share_size, 0)

        def new(_: np.dtype, extents: Sequence[int]) -> Array:
            """Take memory of the workgroup's own."""
            with InsertionPoint.at_block_begin(block):
                own = local_memory(prod(extents), mlir.element_type(dtype), launch.ALIGNMENT)
                return Array.of(own, dtype, extents, registers.index(0))

        def visit(number: Value) -> None:
            *given, to = (x.row(number) for x in arrays)
            nests.copy(triangles.built(operation, given, new), to)

        for_each(first, end, visit)

    name = kernels.name_of(operation.name.split(".")[-1], count, told)
    counts = -(-count // share_size), 1
    found = kernels.dispatch(name, operands, operands[-1], counts, body)
    return shape.reshape(found, shape_of(result))


def _one_batch(x: Value) -> Value:
    extents = shape_of(x)
    return shape.reshape(x, (prod(extents[:-2]), *extents[-2:]))


def _array(binding: Value, extents: Sequence[int], dtype: np.dtype) -> Array:
    whole = memory(binding, prod(extents), dtype)
    return Array.of(whole, dtype, extents, registers.index(0))
