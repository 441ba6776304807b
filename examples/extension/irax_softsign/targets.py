"""A target: its artefacts are the text of lowered modules, for a device that reads StableHLO."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from irax_compiler.mlir import Module
from irax_compiler.passes.standard import standard_passes
from irax_compiler.targets import Target, register


@dataclass(frozen=True, kw_only=True)
class TextTarget(Target):
    """A device that takes text."""

    def compile(self, module: Module, chip: str = "", donated: Sequence[int] = ()) -> bytes:
        return str(module).encode()


register(TextTarget(name="text", passes=standard_passes("text"), extension=".txt"))
