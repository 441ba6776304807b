"""MLIR's canonicalization, with a workaround for a pattern that is wrong."""

from __future__ import annotations

from typing import ClassVar

from irax_compiler.mlir import Module
from irax_compiler.passes.core import NativePass, Pass, register_pass
from irax_compiler.passes.legalize.iree.broadcasts import permuting_broadcast
from irax_compiler.passes.rewriting import rewrite_in_order


@register_pass
class Canonicalize(Pass):
    """Applies the canonicalization patterns of all dialects. Broadcasts that permute dimensions,
    for which StableHLO's pattern is wrong, first become a transpose and a broadcast.
    """

    name: ClassVar[str] = "canonicalize"

    def run(self, module: Module) -> None:
        rewrite_in_order(module.operation, [permuting_broadcast])
        NativePass(self.name).run(module)
