"""The dispatches of a function in the page of `irax show`."""

from __future__ import annotations

from irax_tools.cost.measure import Measured
from irax_tools.cost.peaks import Peaks
from irax_tools.cost.table import expected_of
from irax_tools.show.model import Run
from irax_tools.show.record import Recorder


def add_runs(recorder: Recorder, measured: Measured, peaks: Peaks) -> None:
    """Adds a function's dispatches, with their times, to its page."""
    recorder.set_time(measured.seconds)
    for run in measured.runs:
        parts = peaks.parts(run.cost, run.runs, run.width)
        recorder.add_run(
            Run(
                run.name,
                list(run.operations),
                run.seconds,
                expected_of(run, peaks),
                max(parts, key=lambda part: parts[part]),
                run.runs,
                run.cost.flops,
                run.cost.transcendentals,
                run.cost.bytes,
                [recorder.frame(frame) for frame in run.stack],
                [recorder.frame(frame) for frame in run.lines],
            )
        )
