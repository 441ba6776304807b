"""The pass strip-argument-checks, which removes checks and fences from programs that irax's runtime
calls.
"""

from __future__ import annotations

from collections import defaultdict
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.host.annotate import DIRECT, reflection


@register_pass
class StripArgumentChecks(Pass):
    """Removes the checks of arguments from a module of IREE's phase hal whose functions are all
    marked (see `call_directly`): the runtime has checked them. Where all run in the calling thread,
    by the driver `local-sync`, fences are removed too: a queue operation has completed when it
    returns.
    """

    name: ClassVar[str] = "strip-argument-checks"

    def run(self, module: Module) -> None:
        by_name: defaultdict[str, list[Operation]] = defaultdict(list)
        for operation in nested(module.operation):
            by_name[operation.name].append(operation)
        called = [x for x in map(reflection, by_name["util.func"]) if "irax.driver" in x]
        if not called or not all(DIRECT in x for x in called):
            return
        for check in by_name["hal.buffer_view.assert"] + by_name["hal.buffer.assert"]:
            check.erase()
        if all(x["irax.driver"] == "sync" for x in called):
            for wait in by_name["hal.fence.await"]:
                _remove_wait(wait)
            for signal in by_name["hal.fence.signal"] + by_name["hal.device.queue.barrier"]:
                signal.erase()
            for fence in by_name["hal.fence.create"] + by_name["hal.fence.join"]:
                _replace(fence, "util.null")


def _remove_wait(wait: Operation) -> None:
    """Remove a wait, and the checks that it went well."""
    for check in [use.owner for use in wait.results[0].uses]:
        if check.name == "util.status.check_ok":
            check.operation.erase()
    _replace(wait, "arith.constant", {"value": mlir.parse_attribute("0 : i32")})


def _replace(
    operation: Operation, name: str, attributes: dict[str, mlir.Attribute] | None = None
) -> None:
    """Replace an operation of one result by one without operands."""
    with InsertionPoint(operation), operation.location:
        made = mlir.emit(name, [], attributes, [operation.results[0].type])
    mlir.replace(operation, [made.results[0]])
