"""The pass divide, which puts fusion barriers where a fused kernel would read more arrays than IREE
can bind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value
from irax_compiler.ops import barrier
from irax_compiler.ops.registry import is_generated, traits_of
from irax_compiler.passes.core import Pass, register_pass, walk

_APART = {
    f"stablehlo.{name}"
    for name in (
        *("concatenate", "convolution", "custom_call", "dot_general", "dynamic_update_slice"),
        *("fft", "optimization_barrier", "scatter", "sort"),
    )
} | {"flow.dispatch", "flow.dispatch.region", "func.call"}
"""Operations that IREE does not fuse with what makes their operands."""


@register_pass
@dataclass
class Divide(Pass):
    """Puts an `optimization_barrier` where operations that may be fused with each other would read
    more than `reads` arrays together. IREE binds 32 to a kernel: the others are for its results.

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
            if traits_of(operation).captures:
                for region in operation.regions:
                    for inner in region:
                        self._divide(inner)
            elif operation.name not in _APART:
                together = self._bounded(operation, read)
                read.update(dict.fromkeys(operation.results, together))

    def _bounded(
        self, operation: Operation, read: dict[Value, frozenset[Value]]
    ) -> frozenset[Value]:
        """The arrays that an operation reads, itself or in what is fused with it. Where they would
        be too many, operands that are made of most of them become arrays of their own.
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
    """The value behind a barrier, which takes its place for all who use it."""
    source = mlir.definition(x)
    assert source is not None
    with InsertionPoint.after(source), source.location:
        (parted,) = barrier.barrier.build([x])
    itself = mlir.definition(parted)
    assert itself is not None
    x.replace_all_uses_except(parted, itself)
    return parted
