"""A report of a failure, in Markdown, for those who can mend it."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Iterator, Sequence
from importlib import metadata
from typing import Any

import numpy as np

from irax_compiler import api, mlir
from irax_compiler.iree.target import all_flags
from irax_tools import arrays
from irax_tools.checking import Changed, Row
from irax_tools.children import Ending, shown
from irax_tools.doctor import PACKAGES
from irax_tools.sources import Source

_MOST_ELEMENTS = 64


def of_check(
    source: Source, row: Row, changed: Changed, inputs: Sequence[np.ndarray[Any, Any]], name: str
) -> str:
    """The report of a property that fails."""
    options = [
        f"--{option} {shlex.quote(api.text_of(passes))}"
        for option, passes in (("pipeline", changed.pipeline), ("lowering", changed.lowering))
        if passes is not None
    ]
    command = " ".join([f"irax check {name}.mlir --inputs {name}.npz", *options])
    said = f"The property `{row.name}` does not hold: {row.detail}"
    parts = [
        *_part("Module", "mlir", mlir.text_of(source.module.operation)),
        *_part("Arguments", "text", "\n".join(map(_shown, inputs)) or "none"),
        *_part("To reproduce", "sh", command),
        *(_as_iree_gets_it(source, changed) if row.name == "evaluator = IREE" else ()),
        *(_part("Output", "text", row.output) if row.output.strip() else ()),
        *_versions(),
    ]
    return "\n".join([f"# {row.detail}", "", said, "", *parts])


def of_command(module: mlir.Module, command: Sequence[str], ending: Ending, file: str) -> str:
    """The report of a command that fails."""
    how = f"takes more than {ending.seconds:.1f} s" if ending.how == "time" else ending.how
    title = f"{command[0]}: {how}"
    parts = [
        *_part("Module", "mlir", mlir.text_of(module.operation)),
        *_part("To reproduce", "sh", shown(command, file)),
        *_part("Output", "text", ending.output),
        *_versions(),
    ]
    return "\n".join([f"# {title}", "", *parts])


def _part(title: str, language: str, text: str) -> Iterator[str]:
    yield from (f"## {title}", "", f"```{language}", *text.rstrip().splitlines(), "```", "")


def _shown(x: np.ndarray[Any, Any]) -> str:
    what = arrays.describe(x)
    return f"{what}  {x.tolist()}" if x.size <= _MOST_ELEMENTS else what


def _as_iree_gets_it(source: Source, changed: Changed) -> Iterator[str]:
    """The module after the passes that lower it, and the flags of IREE's compiler."""
    try:
        module = api.lower(source.module, source.func, "iree-cpu", passes=changed.lowering)
    except Exception as error:
        yield from _part("Lowered", "text", f"not lowered: {error}")
        return
    yield from _part("As IREE's compiler gets it", "mlir", mlir.text_of(module.operation))
    flags = all_flags(module, "iree-cpu")
    lines = ["iree-compile lowered.mlir -o lowered.vmfb", *map(shlex.quote, flags)]
    yield from _part("Compiled by", "sh", " \\\n  ".join(lines))


def _versions() -> Iterator[str]:
    versions = [f"Python {platform.python_version()}", f"{platform.system()} {platform.machine()}"]
    for package in PACKAGES:
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            versions.append(f"{package} is not installed")
    yield from ("## Versions", "", *(f"- {line}" for line in versions), "")
