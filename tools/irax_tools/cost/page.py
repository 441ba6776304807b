"""The dispatches of a function in the page of `irax show`."""

from __future__ import annotations

from collections.abc import Callable

from irax_tools import checking
from irax_tools.cost import peaks as machine
from irax_tools.cost.measure import Measured, measure
from irax_tools.cost.peaks import Peaks
from irax_tools.cost.table import expected_of, parts_of
from irax_tools.show.model import Run
from irax_tools.show.record import Recorder
from irax_tools.show.way import Way
from irax_tools.sources import Source


def timing(source: Source, way: Way, tell: Callable[[str], None]) -> Callable[[Recorder], None]:
    """Return a function that times the dispatches of what is shown, and adds them to its page.
    `tell` is given what takes long.
    """

    def add(recorder: Recorder) -> None:
        shown = way.derived(source)
        examples = source.examples if shown is source else None
        measured = measure(shown, examples or checking.trial_of(shown, 0).inputs)
        add_runs(recorder, measured, machine.of_machine(measured.driver, tell=tell))

    return add


def add_runs(recorder: Recorder, measured: Measured, peaks: Peaks) -> None:
    """Adds a function's dispatches, with their times, to its page."""
    recorder.set_time(measured.seconds)
    for run in measured.runs:
        parts = parts_of(run, peaks)
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
