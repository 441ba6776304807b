"""What IREE makes of a module, phase by phase, on the way to a program."""

from __future__ import annotations

import ctypes
import itertools
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Module
from irax_compiler.targets import family, iree, tiling

PHASES = (
    *("input", "global-optimization", "flow", "stream", "executable-sources"),
    *("executable-targets", "hal", "vm"),
)
"""Those that are shown of the phases that IREE has; it goes from one to the next."""


def phases(module: Module, target: str = "iree-cpu") -> Iterator[tuple[str, Module]]:
    """The module after each of `PHASES`, with the locations that it had.

    Args:
        module: StableHLO as it leaves `lowering.lower`.
        target: one of IREE's targets.

    Raises:
        CompileError: IREE refuses the module.
        ValueError: there is no such target.
    """
    with _invocation(module, target) as (invocation, execute):
        for before, phase in itertools.pairwise(("", *PHASES)):
            _go(invocation, before, phase)
            execute()
            yield phase, mlir.parse_module(iree._output(invocation.output_ir_bytecode))


def transient_memory(module: Module, target: str = "iree-cpu") -> int:
    """The bytes that a program takes in a call, for results and in between, as IREE's compiler
    plans it.

    Raises:
        CompileError: IREE refuses the module.
        ValueError: there is no such target.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "statistics.json"
        flags = (
            "--iree-scheduling-dump-statistics-format=json",
            f"--iree-scheduling-dump-statistics-file={file}",
        )
        with _invocation(module, target, flags) as (invocation, execute):
            _go(invocation, "", "stream")
            execute()
        statistics = json.loads(file.read_text())
    return statistics["stream-aggregate"]["execution"]["transient-memory-size"]


@contextmanager
def _invocation(
    module: Module, target: str, flags: Sequence[str] = ()
) -> Iterator[tuple[Any, Callable[[], None]]]:
    """IREE's compiler with a module in it, and what makes it go."""
    from iree.compiler.api import Session, Source

    tiled = family(target) == "iree-cpu" and tiling.pays(module)
    session = Session()
    session.set_flags(*iree.flags_of(target), *(iree.DATA_TILING if tiled else ()), *flags)
    invocation = session.invocation()
    errors: list[str] = []
    callback = iree._capture_errors(invocation, errors)
    source = Source.wrap_buffer(session, mlir.bytecode(module))

    def execute() -> None:
        if not (parsed and invocation.execute()):
            raise iree.CompileError(iree._summary(errors))

    try:
        parsed = invocation.parse_source(source)
        yield invocation, execute
    finally:
        invocation.close()
        session.close()
        del callback  # must live as long as the invocation


def _go(invocation: Any, before: str, phase: str) -> None:
    """Sets the phases to begin after and to end with; the bindings have no calls for it."""
    from iree.compiler.api import ctypes_dl

    for which, name in (("From", before), ("To", phase)):
        set_phase = getattr(ctypes_dl._dylib, f"ireeCompilerInvocationSetCompile{which}Phase")
        set_phase.restype, set_phase.argtypes = ctypes.c_bool, [ctypes.c_void_p, ctypes.c_char_p]
        if name:
            set_phase(invocation._inv_p, name.encode())
