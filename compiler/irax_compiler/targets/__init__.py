"""The targets, which compile modules to artefacts for devices, one per file."""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler.mlir import Module
from irax_compiler.passes.legalize.target import (
    Target,
    all_targets,
    find,
    for_platform,
    is_own,
    register,
)
from irax_compiler.spans import span

__all__ = ["Target", "all_targets", "compile", "find", "for_platform", "is_own", "register"]


def compile(module: Module, target: str, donated: Sequence[int] = ()) -> bytes:
    """The artefact of a module that was lowered for a target (see `lowering.lower`).

    Args:
        module: the module.
        target: the name of the target, such as `iree-cpu`, with a chip after a colon or without:
            `iree-cuda:sm_89`.
        donated: arguments whose memory the program may use for its results. IREE's targets know
            them from `lower`, or never write into an argument.

    Raises:
        ValueError: there is no such target, or it has no such chip.
        UnsupportedOp: the target has no way to do something that is in the module.
        RuntimeError: the target's compiler refuses the module.
    """
    with span("target", target):
        return find(target).compile(module, target.partition(":")[2], donated)
