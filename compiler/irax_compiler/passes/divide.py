"""The pass divide, which puts fusion barriers where IREE would not compile a fused kernel: one that
reads more arrays than it can bind, or returns booleans twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value, dtype_of
from irax_compiler.ops import barrier
from irax_compiler.ops.conversion import Convert
from irax_compiler.ops.registry import is_generated
from irax_compiler.ops.shape import Reshape
from irax_compiler.passes.core import Pass, register_pass, runs_blocks, walk
from irax_compiler.passes.rewriting import without_reshapes

_APART = {
    f"stablehlo.{name}"
    for name in (
        *("concatenate", "convolution", "custom_call", "dot_general", "dynamic_update_slice"),
        *("fft", "optimization_barrier", "scatter", "sort"),
    )
} | {"flow.dispatch", "flow.dispatch.region", "func.call"}
"""The operations that IREE does not fuse with the producers of their operands."""


@register_pass
@dataclass
class Divide(Pass):
    """Puts fusion barriers where operations that may be fused would read more than `reads` arrays
    in all. IREE binds 32 arrays to a kernel; the others are for its results.

    So it does between booleans that others need and the bytes that they are converted to. In memory
    both are bytes. IREE finds the two results of a kernel to be one, and puts the copy between them
    outside of what it distributes: "restricted to workgroup distributed contexts".

    Takes time in proportion to the number of operations.
    """

    name: ClassVar[str] = "divide"
    reads: int = 24

    def run(self, module: Module) -> None:
        for function in mlir.functions(module).values():
            for block in function.regions[0]:
                self._divide(block)

    def _divide(self, block: Block) -> None:
        read: dict[Value, frozenset[Value]] = {}
        for operation in walk(block):
            if runs_blocks(operation):
                for region in operation.regions:
                    for inner in region:
                        self._divide(inner)
            elif operation.name not in _APART:
                if _makes_bytes(operation) and _is_needed(operation.operands[0], operation):
                    _apart_for(operation)
                together = self._bounded(operation, read)
                read.update(dict.fromkeys(operation.results, together))

    def _bounded(
        self, operation: Operation, read: dict[Value, frozenset[Value]]
    ) -> frozenset[Value]:
        """Return the arrays that an operation reads, itself or through fused producers. If there
        are too many, put barriers behind the operands that read most of them.
        """
        if is_generated(operation) and all(mlir.splat(x) is not None for x in operation.results):
            return frozenset()
        operands = list(dict.fromkeys(operation.operands))
        of = {x: read.get(x, frozenset([x])) for x in operands}
        while len(together := frozenset().union(*of.values())) > self.reads:
            largest = max(of, key=lambda x: len(of[x]))
            if len(of.pop(largest)) < 2:
                break
            apart = _apart(largest)
            of[apart] = frozenset([apart])
        return together


def _apart(x: Value) -> Value:
    """Put a barrier behind a value, for all its users."""
    source = mlir.definition(x)
    assert source is not None
    with InsertionPoint.after(source), source.location:
        (parted,) = barrier.barrier.build([x])
    itself = mlir.definition(parted)
    assert itself is not None
    x.replace_all_uses_except(parted, itself)
    return parted


def _makes_bytes(operation: Operation) -> bool:
    """True for a conversion of booleans to integers of one byte."""
    if operation.name != Convert.name or dtype_of(operation.operands[0]) != np.bool_:
        return False
    made = dtype_of(operation.results[0])
    return made.kind in "iu" and made.itemsize == 1


def _is_needed(x: Value, convert: Operation) -> bool:
    """True if an array, perhaps in another shape, is computed by a fused kernel and used by others
    than a conversion and what it may be fused with.
    """
    x = without_reshapes(x)
    source = mlir.definition(x)
    if source is None or source.name in _APART:
        return False
    users = mlir.users(x)
    for user in users:
        if user.name == Reshape.name:
            users += mlir.users(user.results[0])
        elif user != convert and (user.name in _APART or not len(user.results)):
            return True
    return False


def _apart_for(operation: Operation) -> None:
    """Put a barrier behind an operand, for its user alone."""
    with InsertionPoint(operation), operation.location:
        operation.operands[0] = barrier.barrier.build([operation.operands[0]])[0]
