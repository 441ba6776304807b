"""The cost of a function as text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from irax_tools.cost.measure import Measured, Run
from irax_tools.cost.peaks import Peaks
from irax_tools.show.terminal import short

_HEADS = ("measured", "expected", "flops", "bytes", "runs", "bound by")
_MOST_OPERATIONS = 4


def lines(measured: Measured, peaks: Peaks) -> Iterator[str]:
    """The table, a line for each dispatch, the one that takes the longest first."""
    threads = "all threads" if measured.driver == "task" else "one thread"
    near, far = peaks.bandwidth[0][1], peaks.bandwidth[-1][1]
    yield (
        f"this machine, by {threads}: {short(peaks.flops)} flops, "
        f"{short(peaks.transcendentals)} exponentials, {short(far)} bytes a second "
        f"({short(near)} in the nearest cache), {time_text(peaks.launch)} a dispatch"
    )
    expected = sum(expected_of(run, peaks) for run in measured.runs)
    yield (
        f"@{measured.func}: {time_text(measured.seconds)} a call; its dispatches take "
        f"{time_text(measured.in_dispatches)}, and should take {time_text(expected)}"
    )
    yield ""
    yield f"{''.join(f'{head:>10}' for head in _HEADS)}  dispatch"
    longest = sorted(measured.runs, key=lambda run: -(run.seconds or 0))
    for run in longest:
        yield _line(run, peaks)


def expected_of(run: Run, peaks: Peaks) -> float:
    """The time that a dispatch should take in all its runs."""
    return peaks.expected(run.cost, run.runs, run.width)


def _line(run: Run, peaks: Peaks) -> str:
    parts = peaks.parts(run.cost, run.runs, run.width)
    work = run.cost.flops + run.cost.transcendentals
    cells = (
        "?" if run.seconds is None else time_text(run.seconds),
        time_text(expected_of(run, peaks)),
        short(work),
        short(run.cost.bytes),
        f"{run.runs:g}",
        max(parts, key=lambda part: parts[part]),
    )
    return f"{''.join(f'{cell:>10}' for cell in cells)}  {run.name}: {told(run)}"


def told(run: Run) -> str:
    """The operations of a dispatch, and their lines: `tanh, add (model.py:3,4)`."""
    names = list(run.operations[:_MOST_OPERATIONS])
    if len(run.operations) > _MOST_OPERATIONS:
        names.append(f"{len(run.operations) - _MOST_OPERATIONS} others")
    places: dict[str, list[str]] = {}
    for frame in run.lines:
        places.setdefault(Path(frame.file).name, []).append(str(frame.line))
    lines = " ".join(f"{file}:{','.join(dict.fromkeys(n))}" for file, n in places.items())
    return ", ".join(names) + (f" ({lines})" if lines else "")


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
