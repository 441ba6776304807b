"""Composites, for targets that know nothing of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module
from irax_compiler.ops.composite import decomposition_of
from irax_compiler.ops.core import UnsupportedOp, read
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.host import host_call

ON_HOST = {"iree-cpu": {"irax.eigh": "eigh", "irax.qr": "qr", "irax.svd": "svd"}}
"""Composites that a target leaves to a library of the host's, and the host function's name."""


@register_pass
@dataclass
class Decompose(Pass):
    """Leaves no composite: each becomes a call of the function that it is made of, or of one of the
    host's where the target has a better one there.
    """

    name: ClassVar[str] = "decompose"
    target: str = ""

    def run(self, module: Module) -> None:
        functions = mlir.functions(module)
        composites = [o for o in nested(module.operation) if o.name == "stablehlo.composite"]
        for composite in composites:
            callee = decomposition_of(composite)
            if not functions[callee].regions[0].blocks:
                raise UnsupportedOp(
                    f"{composite.attributes['name']} at {composite.location}: just its transpose "
                    "is known (custom_vjp); it cannot be run itself"
                )
            on_host = ON_HOST.get(self.target, {}).get(read(composite).name)
            operands, types = list(composite.operands), [r.type for r in composite.results]
            with InsertionPoint(composite), composite.location:
                if on_host is None:
                    attributes = {"callee": mlir.symbol(callee)}
                    call = mlir.emit("func.call", operands, attributes, types)
                    results = tuple(call.results)
                else:
                    results = host_call(on_host, operands, types)
            for result, value in zip(composite.results, results, strict=True):
                result.replace_all_uses_with(value)
            composite.erase()
