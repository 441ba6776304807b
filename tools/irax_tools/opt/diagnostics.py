"""The diagnostics that a file expects (`// expected-error@+1 {{...}}`), and those that come."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from irax_compiler.mlir import CONTEXT, MLIRError

_EXPECTED = re.compile(
    r"expected-(?P<kind>error|warning|remark|note)(?P<re>-re)?\s*"
    r"(?:@(?P<place>[+-]\d+|above|below|unknown))?\s*"
    r"\{\{(?P<text>(?:[^{}]|\{(?!\{)|\}(?!\})|\{\{.*?\}\})*)\}\}"
)
_LOCATION = re.compile(r'"[^"]*":(\d+):(?:\d+)')
_TOLD = re.compile(r"^(?:.*?: )?(loc\(.*?\)): (.*)$")


@dataclass(frozen=True)
class Diagnostic:
    """Something that was told."""

    kind: str
    """error, warning, remark or note"""
    line: int
    """0 where the place is not known."""
    message: str


@dataclass(frozen=True)
class Expected:
    """Something that is to be told."""

    kind: str
    line: int
    text: str
    is_regex: bool

    def is_met_by(self, told: Diagnostic) -> bool:
        """True for a diagnostic at the place that has the text."""
        if (told.kind, told.line) != (self.kind, self.line):
            return False
        if not self.is_regex:
            return self.text in told.message
        parts = re.split(r"\{\{(.*?)\}\}", self.text)
        pattern = "".join(p if i % 2 else re.escape(p) for i, p in enumerate(parts))
        return re.search(pattern, told.message) is not None


def expected(text: str) -> list[Expected]:
    """Return the diagnostics that comments of a text expect, with the lines that they mean."""
    lines = text.split("\n")
    has_some = [_EXPECTED.search(line) is not None for line in lines]
    found = []
    for number, line in enumerate(lines, 1):
        for match in _EXPECTED.finditer(line):
            place = _line_meant(match["place"], number, has_some)
            found.append(Expected(match["kind"], place, match["text"], bool(match["re"])))
    return found


def _line_meant(place: str | None, number: int, has_some: Sequence[bool]) -> int:
    if place is None:
        return number
    if place == "unknown":
        return 0
    if place not in ("above", "below"):
        return number + int(place)
    step = -1 if place == "above" else 1
    while 1 <= number <= len(has_some) and has_some[number - 1]:
        number += step
    return number


class Listening:
    """A `with` block in which what MLIR tells, other than errors, is kept in `told`."""

    def __init__(self) -> None:
        self.told: list[Diagnostic] = []

    def __enter__(self) -> Listening:
        self._handler: Any = CONTEXT.attach_diagnostic_handler(self._keep)
        return self

    def __exit__(self, *_: object) -> None:
        self._handler.detach()

    def _keep(self, diagnostic: Any) -> bool:
        self.told += _of_mlir(diagnostic)
        return True


def _of_mlir(diagnostic: Any) -> Iterator[Diagnostic]:
    kind = diagnostic.severity.name.lower() if hasattr(diagnostic, "severity") else "error"
    yield Diagnostic(kind, _line_of(str(diagnostic.location)), diagnostic.message)
    for note in diagnostic.notes:
        yield Diagnostic("note", _line_of(str(note.location)), note.message)


def _line_of(location: str) -> int:
    match = _LOCATION.search(location)
    return 0 if match is None else int(match[1])


def of_error(error: BaseException) -> list[Diagnostic]:
    """Return the diagnostics of an exception: those of MLIR that it comes of, or else its text."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, MLIRError):
        cause = cause.__context__
    if isinstance(cause, MLIRError):
        return [d for diagnostic in cause.error_diagnostics for d in _of_mlir(diagnostic)]
    text = str(error)
    match = _TOLD.match(text)
    if match is not None:
        return [Diagnostic("error", _line_of(match[1]), match[2])]
    return [Diagnostic("error", _line_of(text), text)]


def complaints(wanted: Sequence[Expected], told: Sequence[Diagnostic], name: str) -> list[str]:
    """A line for each diagnostic that was not expected, and for each that did not come."""
    left = list(wanted)
    found = []
    for diagnostic in told:
        met = next((w for w in left if w.is_met_by(diagnostic)), None)
        if met is not None:
            left.remove(met)
        elif diagnostic.kind in ("error", "warning", "remark"):
            place = f"{name}:{diagnostic.line or 'unknown'}"
            found.append(f"{place}: unexpected {diagnostic.kind}: {diagnostic.message}")
    found += [
        f'{name}:{w.line or "unknown"}: expected {w.kind} "{w.text}" was not produced' for w in left
    ]
    return found
