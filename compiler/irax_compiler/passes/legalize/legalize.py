"""The passes that apply legalizations: a target's, and those of CHLO."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler.mlir import Module
from irax_compiler.passes.core import Pass, PassError, register_pass
from irax_compiler.passes.legalize import sets
from irax_compiler.passes.rewriting import rewrite_in_order
from irax_compiler.targets import target as targets


@register_pass
@dataclass
class Legalize(Pass):
    """Leaves a module that `target` compiles, with StableHLO's meaning, as far as the target's
    defects are known. Types of functions do not change.
    """

    name: ClassVar[str] = "legalize"
    target: str = ""

    def run(self, module: Module) -> None:
        try:
            target = targets.find(self.target)
        except ValueError as error:
            raise PassError(f"legalize: {error}") from None
        rewrite_in_order(module.operation, target.legalizations)


@register_pass
@dataclass
class LegalizeChlo(Pass):
    """Expands the operations of CHLO that MLIR's own expansion gets wrong."""

    name: ClassVar[str] = "legalize-chlo"

    def run(self, module: Module) -> None:
        rewrite_in_order(module.operation, sets.CHLO)
