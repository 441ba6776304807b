"""A compilation in files: the module after each pass and each of IREE's phases, to be looked at,
edited, and taken up again where it stands.

The first line of such a file says what it is, as a comment:

    // irax stage: {"after": "inline", "target": "iree-cpu", "func": "main", "passes": "widen,..."}

`passes` are those that are still to run, and may be edited too; "phase" stands in their place after
one of IREE's phases.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from irax_compiler import api, mlir, targets
from irax_compiler.iree import compiler, phases
from irax_compiler.iree.target import IreeTarget, iree_target
from irax_runtime import files
from irax_tools.sources import Source

HEADER = "// irax stage: "


@dataclass(frozen=True)
class Stage:
    """A module on its way, but for the module."""

    after: str
    """The pass or phase that it comes from."""
    target: str
    func: str
    passes: str = ""
    """The passes that are still to run, before IREE's phases."""
    phase: str = ""
    """The phase of IREE's that has run."""
    tiled: bool = False
    """True if IREE lays matrices out anew."""

    def header(self) -> str:
        """The first line of its file."""
        defaults = {"passes": "", "phase": "", "tiled": False}
        shown = {k: v for k, v in asdict(self).items() if defaults.get(k, ...) != v}
        return f"{HEADER}{json.dumps(shown)}\n"


def save_stages(source: Source, target: str, folder: str) -> None:
    """Writes a function's module as it is read, after each pass, and after each phase of IREE's, as
    NUMBER-NAME.mlir. Raises ValueError where the folder cannot be written to.
    """
    written = 0

    def write(stage: Stage, module: mlir.Module) -> None:
        nonlocal written
        name = re.sub(r"[^\w.=-]+", "-", stage.after).strip("-")
        text = stage.header() + mlir.text_of(module.operation)
        files.write(Path(folder) / f"{written:02}-{name}.mlir", text.encode())
        written += 1

    kind = targets.find(target)
    remaining = list(kind.passes)

    def after_pass(name: str, module: mlir.Module) -> None:
        remaining.pop(0)
        write(Stage(name, target, source.func, api.text_of(remaining)), module)

    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        first = "traced" if source.is_traced else "read"
        write(Stage(first, target, source.func, api.text_of(remaining)), source.module)
        lowered = api.lower(source.module, source.func, target, after_pass)
        if isinstance(kind, IreeTarget):
            tiled = kind.tiles(lowered)
            for phase, module in phases.phases(lowered, target):
                stage = Stage(f"iree-{phase}", target, source.func, phase=phase, tiled=tiled)
                write(stage, module)
    except OSError as error:
        raise ValueError(f"{folder}: cannot be written: {error.strerror}") from None


def read_stage(data: bytes, path: str) -> tuple[Stage, str] | None:
    """Read a file that `save_stages` wrote: its stage and its text; None for any other file.

    Raises ValueError where its first line is damaged.
    """
    if not data.startswith(HEADER.encode()):
        return None
    text = data.decode()
    try:
        about: Any = json.loads(text.partition("\n")[0].removeprefix(HEADER))
        return Stage(**about), text
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{path}: its first line does not say which stage it is: {error}"
        ) from None


def compile_stage(stage: Stage, text: str) -> bytes:
    """The artefact of a module, taken up where it stands."""
    if stage.phase:
        tiled = compiler.DATA_TILING if stage.tiled else ()
        flags = iree_target(stage.target).flags_for(stage.target.partition(":")[2])
        return compiler.resume(text.encode(), stage.phase, (*flags, *tiled))
    module = mlir.parse_module(text)
    return targets.compile(
        api.lower(module, stage.func, stage.target, passes=api.parse_pipeline(stage.passes)),
        stage.target,
    )
