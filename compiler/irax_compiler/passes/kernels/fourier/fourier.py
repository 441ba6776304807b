"""The pass fourier, which makes Fourier transforms kernels of IREE's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler.importing import alone
from irax_compiler.mlir import Module
from irax_compiler.ops.fft import Fft
from irax_compiler.passes.core import Pass, outside_kernels, register_pass


@register_pass
@dataclass
class Fourier(Pass):
    """Replaces Fourier transforms of many rows or columns, or of long rows, of lengths without
    large prime factors, by kernels: one for each axis, two for long rows. Equal transforms share an
    executable.
    """

    name: ClassVar[str] = "fourier"
    workers: int = 0
    """The number of workgroups that share a transform; 0 means one per processor."""

    def run(self, module: Module) -> bool | None:
        if not any(o.name == Fft.name for o in outside_kernels(module)):
            return False
        with alone():  # most programs do without these files
            from irax_compiler.passes.kernels.fourier.dispatches import write_dispatches
        write_dispatches(module, self.workers)
        return True
