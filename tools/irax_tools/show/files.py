"""The files that operations come from."""

from __future__ import annotations

import ast
import importlib.util
import linecache
import os
from collections.abc import Iterable
from pathlib import Path

from irax_compiler.cells import cell_name
from irax_compiler.locations import Frame, frames
from irax_compiler.mlir import Location
from irax_tools.show.model import File


def _folders(package: str) -> list[str]:
    spec = importlib.util.find_spec(package)
    return [] if spec is None else list(spec.submodule_search_locations or ())


OURS = tuple(
    os.path.join(os.path.abspath(folder), "")
    for package in ("irax", "irax_compiler", "irax_tools")
    for folder in _folders(package)
)
"""The folders of irax: what it does for itself is nobody's source."""

_LONGEST_FUNCTION = 80
_AROUND = 4
_LARGEST = 1 << 20


def frames_of_user(location: Location) -> list[Frame]:
    """The lines of the user's that an operation comes from: its own, then those of calls."""
    return [f for f in frames(location) if not f.file.startswith(OURS) and f.line > 0]


PARSED = "-"
"""The name in locations of the text that a module was parsed from."""


def read_file(path: str, parsed: File) -> File:
    """A file, without lines if it cannot be read; `parsed` where it is what was parsed."""
    if path in (PARSED, parsed.path):
        return parsed
    if (cell := cell_name(path)) is not None:
        return File(cell, cell, "python", _read(path))
    suffix = Path(path).suffix.removeprefix(".")
    return File(Path(path).name, path, {"py": "python"}.get(suffix, suffix), _read(path))


def _read(path: str) -> list[str]:
    if path in linecache.cache and not os.path.exists(path):  # a cell, or code of `exec`
        return "".join(linecache.getlines(path)).splitlines()
    try:
        file = Path(path)
        return file.read_text("utf-8").splitlines() if file.stat().st_size < _LARGEST else []
    except (OSError, UnicodeDecodeError):
        return []


def name_apart(files: list[File]) -> None:
    """Gives files the shortest ends of their paths that tell them apart."""
    for file in files:
        parts = Path(file.path).parts
        for count in range(1, len(parts) + 1):
            name = os.path.join(*parts[-count:])
            if not any(f is not file and _ends_with(f.path, name) for f in files):
                file.name = name
                break


def _ends_with(path: str, name: str) -> bool:
    return path == name or path.endswith(os.sep + name)


def show_around(file: File, used: Iterable[int]) -> None:
    """Decides which lines are shown: the functions that the used lines are in, those that are not
    too long, and some lines around the others.
    """
    functions = _functions(file)
    wanted: set[int] = set()
    for line in used:
        around = [(a, b) for a, b in functions if a <= line <= b]
        first, last = max(around, default=(line, line))
        if last - first > _LONGEST_FUNCTION:
            wanted.update((first, first + 1))
            first, last = line, line
        alone = not around or first == last
        wanted.update(range(first - alone * _AROUND, last + 1 + alone * _AROUND))
    file.shown = _ranges(line for line in wanted if 1 <= line <= len(file.lines))


def _functions(file: File) -> list[tuple[int, int]]:
    """The first and last lines of a Python file's functions."""
    if file.language != "python":
        return []
    try:
        tree = ast.parse("\n".join(file.lines))
    except SyntaxError:
        return []
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        (min([n.lineno, *(d.lineno for d in n.decorator_list)]), n.end_lineno or n.lineno)
        for n in ast.walk(tree)
        if isinstance(n, kinds)
    ]


def _ranges(lines: Iterable[int]) -> list[tuple[int, int]]:
    """Lines as ranges; what few lines are between two of them belongs to both."""
    found: list[tuple[int, int]] = []
    for line in sorted(lines):
        if found and line - found[-1][1] <= _AROUND:
            found[-1] = (found[-1][0], line)
        else:
            found.append((line, line))
    return found
