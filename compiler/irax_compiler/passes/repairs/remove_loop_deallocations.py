"""The pass remove-loop-deallocations, which removes deallocations of memory that branches pass on:
its last reference releases it.
"""

from __future__ import annotations

from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module
from irax_compiler.passes.core import Pass, outside_kernels, register_pass

_TIMEPOINT = mlir.parse_type("!stream.timepoint")


@register_pass
class RemoveLoopDeallocations(Pass):
    """Removes deallocations of what blocks take as arguments, in a module of IREE's phase stream.

    IREE 3.13 deallocates what a loop has carried after the loop. If the loop takes no step, that is
    the array that it began with, which may still be used: another loop may begin with it. Without
    the deallocation the memory is released as soon as nothing refers to it.
    """

    name: ClassVar[str] = "remove-loop-deallocations"

    def run(self, module: Module) -> bool | None:
        found = [o for o in outside_kernels(module) if o.name == "stream.resource.dealloca"]
        for operation in found:
            resource, _, *awaited = operation.operands
            if not mlir.is_argument(resource):
                continue
            if not awaited:
                with InsertionPoint(operation), operation.location:
                    made = mlir.emit("stream.timepoint.immediate", [], {}, [_TIMEPOINT])
                awaited = list(made.results)
            mlir.replace(operation, [awaited[0]])
        return bool(found)
