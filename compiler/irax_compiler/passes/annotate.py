"""Writes into public functions what the runtime must know of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Value, shape_of
from irax_compiler.ops.convolution import Convolution
from irax_compiler.ops.core import read
from irax_compiler.ops.dot import DotGeneral
from irax_compiler.passes.core import Pass, register_pass, returned

ELEMENTS_PER_MICROSECOND = 1000.0
FLOPS_PER_MICROSECOND = 20000.0
TASK_THRESHOLD = 300.0
"""Microseconds of work on one core from which on the hand-off to other cores pays."""


@register_pass
@dataclass
class Annotate(Pass):
    """Gives public functions the reflection attributes `irax.args` and `irax.results`, their
    types (`f32[4,4];i32[]`), and `irax.driver`: "task" where the work is worth several cores, or
    "sync" where it is done sooner than it could be shared out.
    """

    name: ClassVar[str] = "annotate"

    def run(self, module: Module) -> None:
        for function in mlir.functions(module).values():
            if not mlir.is_public(function):
                continue
            block = mlir.body(function)
            entries = {
                "irax.args": signature(list(block.arguments)),
                "irax.results": signature(returned(function)),
                "irax.driver": "task" if work(block) > TASK_THRESHOLD else "sync",
            }
            function.attributes["iree.reflection"] = mlir.reflection(entries)


def signature(values: Sequence[Value]) -> str:
    """The types of values as `f32[4,4];i32[]`."""
    return ";".join(
        f"{v.type.element_type}[{','.join(map(str, v.type.shape))}]"  # pyright: ignore
        for v in values
    )


def work(block: Block) -> float:
    """A rough estimate of a block's time on one core, in microseconds."""
    total = 0.0
    for view in block.operations:
        operation = view.operation
        for result in operation.results:
            if operation.name != "stablehlo.constant":
                total += prod(shape_of(result)) / ELEMENTS_PER_MICROSECOND
        if operation.name == "stablehlo.dot_general":
            op = read(operation)
            assert isinstance(op, DotGeneral)
            lhs = shape_of(operation.operands[0])
            depth = prod(lhs[d] for d in op.dimensions.lhs_contracting)
            total += 2 * depth * prod(shape_of(operation.results[0])) / FLOPS_PER_MICROSECOND
        elif operation.name == "stablehlo.convolution":
            op = read(operation)
            assert isinstance(op, Convolution)
            kernel = shape_of(operation.operands[1])
            depth = prod(kernel) / max(kernel[op.dimensions.rhs[0]], 1)
            total += 2 * depth * prod(shape_of(operation.results[0])) / FLOPS_PER_MICROSECOND
        elif operation.name in ("stablehlo.reduce", "stablehlo.sort"):
            total += prod(shape_of(operation.operands[0])) / ELEMENTS_PER_MICROSECOND
        elif operation.name in ("stablehlo.while", "stablehlo.case", "stablehlo.if"):
            total += sum(work(b) for region in operation.regions for b in region)
    return total
