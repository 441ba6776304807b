"""The cost of a function as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any

from irax_compiler import api
from irax_compiler.cells import cell_name
from irax_compiler.locations import Frame
from irax_tools.cost.measure import AWAKE, Measured, Run
from irax_tools.cost.peaks import Peaks
from irax_tools.show.terminal import short

_HEADS = ("measured", "expected", "flops", "bytes", "runs", "bound by")
_MOST_OPERATIONS = 4
_MOSTLY = 2
"""The time of a call, in those of its dispatches, from which on the rest is told of."""


def lines(measured: Measured, peaks: Peaks) -> Iterator[str]:
    """The table, a line for each dispatch, the one that takes the longest first."""
    threads = "all threads" if measured.driver == "task" else "one thread"
    near, far = peaks.bandwidth[0][1], peaks.bandwidth[-1][1]
    yield (
        f"this machine, by {threads}: {short(peaks.flops)} flops, "
        f"{short(peaks.transcendentals)} transcendental functions, {short(far)} bytes a second "
        f"({short(near)} in the nearest cache), {time_text(peaks.launch)} a dispatch"
    )
    expected = sum(expected_of(run, peaks) for run in measured.runs)
    yield (
        f"@{measured.func}: {time_text(measured.seconds)} a call; its dispatches take "
        f"{time_text(measured.in_dispatches)}, and should take {time_text(expected)}"
    )
    if measured.seconds > _MOSTLY * measured.in_dispatches:
        yield (
            "the rest is outside of these: functions that the host runs, such as sorts, launches "
            "and copies; or it depends on the elements, which dispatches are timed without"
        )
    if measured.awake < AWAKE:
        yield (
            f"this machine was busy: other programs had {1 - measured.awake:.0%} of the time in "
            "which the dispatches were measured, so they take less than it says: measure again"
        )
    yield ""
    yield f"{''.join(f'{head:>10}' for head in _HEADS)}  dispatch"
    groups = _groups(measured)
    for runs in sorted(groups, key=lambda runs: -sum(run.seconds or 0 for run in runs)):
        yield _line(runs, peaks, max(map(measured.traced.get, runs[0].lines, repeat(0)), default=0))
    for line, told_of in measured.detours.items():
        yield f"{line.place(short=True)}: {told_of}"


def _groups(measured: Measured) -> list[list[Run]]:
    """Dispatches of the same lines, where these were traced many times, and each other one by
    itself.
    """
    alike: dict[tuple[Any, ...], list[Run]] = {}
    for number, run in enumerate(measured.runs):
        is_repeated = any(line in measured.traced for line in run.lines)
        alike.setdefault(tuple(run.lines) if is_repeated else (number,), []).append(run)
    return list(alike.values())


def expected_of(run: Run, peaks: Peaks) -> float:
    """The time that a dispatch should take in all its runs."""
    return peaks.expected(run.cost, run.runs, run.width, run.written)


def parts_of(run: Run, peaks: Peaks) -> dict[str, float]:
    """The least times that a dispatch can take for its arithmetic, its bytes and its launches."""
    return peaks.parts(run.cost, run.runs, run.width, run.written)


def _line(runs: Sequence[Run], peaks: Peaks, times: int) -> str:
    """A line of the table, for a dispatch, or for those of lines that were traced so many times."""
    first = runs[0]
    parts = parts_of(first, peaks)
    known = [run.seconds for run in runs if run.seconds is not None]
    cells = (
        time_text(sum(known)) if known else "?",
        time_text(sum(expected_of(run, peaks) for run in runs)),
        short(sum(run.cost.flops + run.cost.transcendentals for run in runs)),
        short(sum(run.cost.bytes for run in runs)),
        f"{sum(run.runs for run in runs):g}",
        max(parts, key=lambda part: parts[part]),
    )
    name, advice = first.name, ""
    if len(runs) > 1:
        name = f"{len(runs)} dispatches"
        advice = f"; traced {times} times: {api.FOR_LOOPS}"
        operations = dict.fromkeys(name for run in runs for name in run.operations)
        first = replace(first, operations=list(operations))
    return f"{''.join(f'{cell:>10}' for cell in cells)}  {name}: {told(first)}{advice}"


def told(run: Run) -> str:
    """The operations of a dispatch, and their lines: `tanh, add (model.py:3,4)`."""
    names = list(run.operations[:_MOST_OPERATIONS])
    if len(run.operations) > _MOST_OPERATIONS:
        names.append(f"{len(run.operations) - _MOST_OPERATIONS} others")
    return ", ".join(names) + place_text(run.lines)


def place_text(frames: Sequence[Frame]) -> str:
    """Lines by their files, ` (model.py:3,4 layers.py:1)`; an empty text for none."""
    places: dict[str, list[str]] = {}
    for frame in frames:
        name = cell_name(frame.file) or Path(frame.file).name
        places.setdefault(name, []).append(str(frame.line))
    found = " ".join(f"{file}:{','.join(dict.fromkeys(n))}" for file, n in places.items())
    return f" ({found})" if found else ""


def time_text(seconds: float) -> str:
    """A time in three digits.

    >>> time_text(0.0012345), time_text(2.5e-6)
    ('1.23 ms', '2.50 us')
    """
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= 0.9995 * size:
            return f"{_three(seconds / size)} {unit}"
    return f"{_three(seconds / 1e-9)} ns"


def _three(number: float) -> str:
    return f"{number:.{2 if number < 9.995 else 1 if number < 99.95 else 0}f}"
