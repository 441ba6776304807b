"""The pass blas, which makes products of matrices, convolutions and factorizations calls of
OpenBLAS, or code of irax's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler import blas
from irax_compiler.importing import alone
from irax_compiler.mlir import Module
from irax_compiler.ops.convolution import Convolution
from irax_compiler.ops.dot import DotGeneral
from irax_compiler.ops.foreign import ForeignCall
from irax_compiler.passes.core import Pass, outside_kernels, register_pass

_REPLACED = Convolution.name, DotGeneral.name, ForeignCall.name
"""The names of operations that may be replaced."""


@register_pass
@dataclass
class Blas(Pass):
    """Replaces products of matrices, of matrices and vectors, and convolutions by dispatches that
    call BLAS, or that are code of irax's own for this processor, and calls of host
    functions that factor matrices or solve equations by dispatches that call LAPACK, where
    measurements say that it is faster. The elementwise operations on a product are part of its
    dispatch. Equal computations share an executable. Public functions get the reflection
    attribute `irax.libraries`, the packages that the program needs.

    With `always`, all computations that the library supports are replaced. Without the library,
    nothing changes.
    """

    name: ClassVar[str] = "blas"
    workers: int = 0
    """The number of workgroups that share a computation; 0 means one per processor."""
    always: bool = False

    def run(self, module: Module) -> bool | None:
        is_found = any(o.name in _REPLACED for o in outside_kernels(module))
        if not is_found or (blas.calls() is None and not self.always):
            return False
        with alone():  # most programs do without these files
            from irax_compiler.passes.kernels.blas.calls import write_calls
        write_calls(module, self.workers, self.always)
        return True
