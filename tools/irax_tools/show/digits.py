"""The digits of a function's results on its page: `irax show --digits`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax_compiler import api
from irax_tools import arrays, checking, programs
from irax_tools.show.model import CostlyLine, Digits
from irax_tools.show.record import Recorder
from irax_tools.show.way import Way
from irax_tools.sources import Source


def judging(
    source: Source, way: Way, given: Sequence[np.ndarray[Any, Any]]
) -> Callable[[Recorder], None]:
    """Return a function that judges the digits of what is shown, and adds them to its page. They
    are those for some arguments: those given, else those that the source was traced with, else
    random ones.
    """

    def add(recorder: Recorder) -> None:
        shown = way.derived(source)
        known = given or (source.examples if way.vmap is None else None)
        known = known or list(checking.trial_of(shown, 0).inputs)
        known = arrays.typed(known, [dtype for _, dtype in programs.argument_types(shown)])
        programs.check_operands(shown, known)
        found = api.precision_report(shown.module, shown.func, known)
        lines = [
            CostlyLine(
                recorder.frame(line.frame),
                found.cost_of(line),
                min(1.0, line.costs.own),
                line.notes(),
            )
            for line in found.lines
            if line.frame is not None
        ]
        recorder.set_digits(Digits([r.told() for r in found.results], found.holds, lines))

    return add
