"""The targets: what turns a lowered module into an artefact that a device runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from irax_compiler.mlir import Module


def compile(module: Module, target: str, donated: Sequence[int] = ()) -> bytes:
    """The artefact of a module that was lowered for a target (see `lowering.lower`).

    Args:
        module: the module.
        target: the target: `iree-cpu`, `iree-vulkan`, `iree-cuda`, `iree-hip`, `iree-metal`, a
            chip after a colon (`iree-cuda:sm_89`), `pjrt` or `tpu`.
        donated: arguments whose memory the program may use for its results. IREE's targets never
            write into an argument.

    Raises:
        ValueError: there is no such target.
        UnsupportedOp: the target has no way to do something that is in the module.
        RuntimeError: the target's compiler refuses the module.
    """
    if target in ("pjrt", "tpu"):
        from irax_compiler.targets import pjrt

        return pjrt.compile(module, donated)
    from irax_compiler import mlir
    from irax_compiler.targets import iree, tiling

    data_tiling = tiling.pays(module, target)
    return iree.compile(mlir.bytecode(module), target=target, data_tiling=data_tiling)


def family(target: str) -> str:
    """A target without the chip that it is for: `iree-cuda` of `iree-cuda:sm_89`.

    >>> family("iree-cuda:sm_89")
    'iree-cuda'
    """
    return target.partition(":")[0]
