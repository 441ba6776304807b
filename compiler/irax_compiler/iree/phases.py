"""IREE's intermediate forms of a module, phase by phase."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from irax_compiler import mlir
from irax_compiler.iree.compiler import linking_flags
from irax_compiler.iree.invocation import invocation
from irax_compiler.iree.target import all_flags, iree_target
from irax_compiler.mlir import Module

PHASES = (
    *("input", "global-optimization", "flow", "stream", "executable-sources"),
    *("executable-targets", "hal", "vm"),
)
"""The phases of IREE that are shown, in order."""


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
    flags = (*all_flags(module, target), *linking_flags(data, mlir.text_of(module.operation)))
    for before, phase in itertools.pairwise(("", *PHASES)):
        data = after_phase(phase, data, flags, before, target)
        yield phase, mlir.parse_module(data)


def after_phase(phase: str, data: bytes, flags: Sequence[str], before: str, target: str) -> bytes:
    """A module after a phase, from one after an earlier phase."""
    with invocation(data, flags) as run:
        if before:
            run.begin_after(before)
        run.end_with(phase)
        run.execute()
        data = run.bytecode()
    return iree_target(target).on_flow(data) or data if phase == "flow" else data


def transient_memory(module: Module, target: str = "iree-cpu") -> int:
    """The bytes that a program takes in a call, for results and in between, as IREE's compiler
    plans it.

    Raises:
        CompileError: IREE refuses the module.
        ValueError: there is no such target, or it is not one of IREE's.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "statistics.json"
        flags = (
            *all_flags(module, target),
            "--iree-scheduling-dump-statistics-format=json",
            f"--iree-scheduling-dump-statistics-file={file}",
        )
        flow = after_phase("flow", mlir.bytecode(module), flags, "", target)
        after_phase("stream", flow, flags, "flow", target)
        statistics = json.loads(file.read_text())
    return statistics["stream-aggregate"]["execution"]["transient-memory-size"]
