"""Programs for all sizes, as they are called with arguments of some sizes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from irax_runtime.iree.executable import IreeExecutable


class SizedExecutable(IreeExecutable):
    """A program for all sizes, for arguments of some: what is known of calls of these sizes, such
    as the way that is the fastest, is not mixed up with that of others.
    """

    def __init__(self, program: IreeExecutable, notes: Mapping[str, str]) -> None:
        """`notes` are the reflection attributes that a program compiled for these sizes has."""
        self.seconds = 0.0
        """The time that calls have taken so far."""
        super().__init__(
            *(program.device, program._module, program.name, program._undefined),
            notes=notes,
            contexts=program._contexts,
        )

    def _running(self) -> Callable[..., list[Any]]:
        run, cost = super()._running(), self._cost

        def counted(arguments: Sequence[Any], now: bool = False) -> list[Any]:
            if not (now or cost.is_brief):  # a call that comes here again
                return run(arguments)
            start = time.perf_counter()
            results = run(arguments, now)
            self.seconds += time.perf_counter() - start
            return results

        return counted
