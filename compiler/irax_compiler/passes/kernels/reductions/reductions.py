"""The pass reductions, which makes kernels of reductions and the operations around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler.importing import alone
from irax_compiler.mlir import Module
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.passes.core import Pass, outside_kernels, register_pass


@register_pass
@dataclass
class Reductions(Pass):
    """Makes kernels of reductions, together with the elementwise operations that compute what is
    reduced and, if what they read stays in the processor's cache, with those that use the results.
    Equal kernels are one executable.
    """

    name: ClassVar[str] = "reductions"
    workers: int = 0
    """The number of workgroups that share what is folded; 0 means one per processor."""

    def run(self, module: Module) -> bool | None:
        if not any(o.name == Reduce.name for o in outside_kernels(module)):
            return False
        with alone():  # many programs do without these files
            from irax_compiler.passes.kernels.reductions.dispatches import write_dispatches
        write_dispatches(module, self.workers)
        return True
