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
        target: the target.
        donated: arguments whose memory the program may use for its results. The target `iree-cpu`
            never writes into an argument.

    Raises:
        ValueError: there is no such target.
        UnsupportedOp: the target has no way to do something that is in the module.
        RuntimeError: the target's compiler refuses the module.
    """
    if target == "iree-cpu":
        from irax_compiler import mlir
        from irax_compiler.targets import iree_cpu

        return iree_cpu.compile(mlir.bytecode(module))
    if target == "pjrt":
        from irax_compiler.targets import pjrt

        return pjrt.compile(module, donated)
    raise ValueError(f"unknown target {target!r}; there are iree-cpu and pjrt")
