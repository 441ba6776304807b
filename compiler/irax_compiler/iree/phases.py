"""IREE's intermediate forms of a module, phase by phase."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from irax_compiler import mlir
from irax_compiler.iree.compiler import linking_flags
from irax_compiler.iree.invocation import run_phases
from irax_compiler.iree.memory import peak_memory
from irax_compiler.iree.pipelines import ALLOCATION, CONCURRENCY
from irax_compiler.iree.target import all_flags, iree_target
from irax_compiler.mlir import Module

PHASES = (
    *("input", "global-optimization", "flow", CONCURRENCY, ALLOCATION, "stream"),
    *("executable-sources", "executable-configurations", "executable-targets", "hal", "vm"),
)
"""The phases of IREE that are shown, in order, and the first parts of its phase stream."""


def phases(module: Module, target: str = "iree-cpu") -> Iterator[tuple[str, Module]]:
    """The module after each of `PHASES`, with the locations that it had.

    Args:
        module: StableHLO as it leaves `lowering.lower`.
        target: one of IREE's targets.

    Raises:
        CompileError: IREE refuses the module.
        ValueError: there is no such target, or it is not one of IREE's.
    """
    data = mlir.bytecode(module)
    flags = all_flags(module, target)
    flags += linking_flags(data, mlir.text_of(module.operation), flags)
    for before, phase in itertools.pairwise(("", *PHASES)):
        data = after_phase(phase, data, flags, before, target)
        yield phase, mlir.parse_module(data)


def after_phase(phase: str, data: bytes, flags: Sequence[str], before: str, target: str) -> bytes:
    """A module after a phase, from one after an earlier phase."""
    data = run_phases(data, flags, before, phase)
    for rewrite in iree_target(target).rewrites(target.partition(":")[2]):
        if rewrite.phase == phase:
            rewritten = mlir.parse_module(data)
            data = mlir.bytecode(rewritten) if rewrite.run(rewritten) else data
    return data


def transient_memory(module: Module, target: str = "iree-cpu") -> int:
    """The most bytes that a call has allocated at a time, for results and in between, as IREE's
    compiler plans it.

    Raises:
        CompileError: IREE refuses the module.
        ValueError: there is no such target, or it is not one of IREE's.
    """
    data = mlir.bytecode(module)
    flags = all_flags(module, target)
    before = ""
    for phase in ("flow", CONCURRENCY, ALLOCATION, "stream"):
        data, before = after_phase(phase, data, flags, before, target), phase
    return peak_memory(mlir.parse_module(data))
