"""The passes that apply legalizations: those that a target needs, and those for CHLO."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from irax_compiler.mlir import Module, Operation
from irax_compiler.passes.core import Pass, PassError, nested, register_pass
from irax_compiler.passes.legalization import Legalization
from irax_compiler.passes.legalize import sets
from irax_compiler.targets import target as targets


@register_pass
@dataclass
class Legalize(Pass):
    """Leaves a module that `target` compiles, and that means on it what StableHLO says it means,
    as far as the target's defects are known. Types of functions stay as they are.
    """

    name: ClassVar[str] = "legalize"
    target: str = ""

    def run(self, module: Module) -> None:
        try:
            target = targets.find(self.target)
        except ValueError as error:
            raise PassError(f"legalize: {error}") from None
        _apply(target.legalizations, module)


@register_pass
@dataclass
class LegalizeChlo(Pass):
    """Expands the operations of CHLO that MLIR's own expansion gets wrong."""

    name: ClassVar[str] = "legalize-chlo"

    def run(self, module: Module) -> None:
        _apply(sets.CHLO, module)


_ByName = dict[str, list[tuple[int, Operation]]]


def _apply(legalizations: Iterable[Legalization], module: Module) -> None:
    named: _ByName | None = None
    for legalization in legalizations:
        if named is None:
            named = _by_name(module)
        matching = [found for name in legalization.operations for found in named.get(name, ())]
        # One that is replaced takes what is inside it along: that has its turn before.
        in_order = sorted(matching, key=lambda found: found[0])
        applied = [legalization.apply(operation) for _, operation in in_order]
        if any(applied):
            named = None


def _by_name(module: Module) -> _ByName:
    """The operations of a module with their places, each after those inside it."""
    named: _ByName = {}
    for place, operation in enumerate(nested(module.operation)):
        named.setdefault(operation.name, []).append((place, operation))
    return named
