"""The pass lift, which lifts barriers once nothing is fused any more."""

from __future__ import annotations

from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Module
from irax_compiler.passes.annotate import is_for_all_sizes
from irax_compiler.passes.core import Pass, nested, register_pass

_BARRIER = "util.optimization_barrier"


@register_pass
class Lift(Pass):
    """Removes barriers on arrays from modules of IREE's dialect flow, which has formed its kernels.

    In the phases after it they do harm. IREE 3.13 takes what a barrier returns for memory of its
    own, and may write to it while the operand is still read. Its pass `propagate-subranges` finds
    the size of that memory in the first branch or loop that returns it, and uses the size in
    others: "operand does not dominate this use", or the process ends. The program would wait at
    each barrier, too.

    Barriers of programs for all sizes stay: without them, IREE may lose the device of numbers that
    arrays are filled with.
    """

    name: ClassVar[str] = "lift"

    def run(self, module: Module) -> None:
        if is_for_all_sizes(module):
            return
        for operation in [o for o in nested(module.operation) if o.name == _BARRIER]:
            held = list(zip(operation.results, operation.operands, strict=True))
            if all(isinstance(x.type, mlir.RankedTensorType) for x, _ in held):
                for result, operand in held:
                    result.replace_all_uses_with(operand)
                operation.erase()
