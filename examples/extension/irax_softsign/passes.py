"""A pass: `irax opt in.mlir --pipeline softsign-for-tanh`."""

from __future__ import annotations

from dataclasses import dataclass

from irax_compiler.mlir import Module, Operation
from irax_compiler.passes.core import Pass, register_pass
from irax_compiler.passes.rewriting import rewrite_in_order, rewrites
from irax_softsign.ops import Softsign


@rewrites("stablehlo.tanh")
def softsign(operation: Operation):
    """tanh x -> softsign x, a squashing function without an exponential."""
    return [Softsign()(operation.operands[0])]


@register_pass
@dataclass
class SoftsignForTanh(Pass):
    """Replaces tanh by softsign, which is cheaper and squashes less."""

    name = "softsign-for-tanh"

    def run(self, module: Module) -> None:
        rewrite_in_order(module.operation, [softsign])
