"""The pass divide, which puts fusion barriers where a fused kernel would read more arrays than IREE
can bind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value
from irax_compiler.ops import barrier
from irax_compiler.ops.registry import is_generated
from irax_compiler.passes.core import Pass, register_pass, runs_blocks, walk

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
