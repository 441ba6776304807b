"""Composites, for targets that know nothing of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module
from irax_compiler.ops.composite import decomposition_of
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.passes.core import Pass, nested, register_pass


@register_pass
@dataclass
class Decompose(Pass):
    """Leaves no composite: each becomes a call of the function that it is made of."""

    name: ClassVar[str] = "decompose"

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
            with InsertionPoint(composite), composite.location:
                call = mlir.emit(
                    "func.call",
                    list(composite.operands),
                    {"callee": mlir.symbol(callee)},
                    [r.type for r in composite.results],
                )
            for result, value in zip(composite.results, call.results, strict=True):
                result.replace_all_uses_with(value)
            composite.erase()
