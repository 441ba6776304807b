"""The pass inline-sized: calls of functions with symbolic dimensions are replaced by what they do.

MLIR's own inliner leaves them, because it does not know operations of the dialect `irax`.
"""

from __future__ import annotations

from irax_compiler import mlir
from irax_compiler.mlir import Module
from irax_compiler.ops.structured import inlined
from irax_compiler.passes.core import Pass, register_pass


@register_pass
class InlineSized(Pass):
    """Inlines the calls of public functions, in regions too: these functions have no calls then."""

    name = "inline-sized"

    def run(self, module: Module) -> None:
        functions = mlir.functions(module)
        for function in filter(mlir.is_public, functions.values()):
            while calls := mlir.calls(function):
                for call in calls:
                    with mlir.InsertionPoint(call), call.location:
                        found = inlined(functions, mlir.callee(call), list(call.operands))
                    mlir.replace(call, found)
