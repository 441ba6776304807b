"""The pass fuse-kernels, which fuses kernels that need each other's results part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler.importing import alone
from irax_compiler.mlir import Module
from irax_compiler.passes.core import Pass, outside_kernels, register_pass


@register_pass
@dataclass
class FuseKernels(Pass):
    """Fuses two kernels if each part of the second's results needs only the same part of the
    first's: the scores of a head, their softmax, and the sum that these weigh. Each workgroup
    computes all of a part, while it is in the processor's cache, and no worker waits for the others
    in between.
    """

    name: ClassVar[str] = "fuse-kernels"
    workers: int = 0
    """The number of workgroups that run at a time; 0 means one per processor."""

    def run(self, module: Module) -> bool | None:
        dispatches = sum(o.name == "flow.dispatch" for o in outside_kernels(module))
        if dispatches < 2:
            return False
        with alone():  # many programs do without these files
            from irax_compiler.passes.kernels.fuse_kernels.pairs import join
        join(module, self.workers)
        return True
