"""First calls of signatures, of which another process may have traced the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from irax.config import config
from irax.execution import bound_call
from irax.execution.bound_call import OTHER
from irax.execution.diagnostics import reports
from irax.execution.jit_parameters import Static
from irax.execution.program import Program
from irax.execution.programs import Programs
from irax.execution.untraced.records import NotDescribed, Start, Untraced, may_start

if TYPE_CHECKING:
    from irax.execution.jitted import PjitFunction


@dataclass
class FirstCall:
    """A call of a signature that this process has not traced."""

    jitted: PjitFunction[..., Any]
    function: Callable[..., Any]
    """The function that was jitted."""
    programs: Programs
    """Its programs."""
    key: Any
    leaves: Sequence[Any]
    tree: Any
    static: Sequence[Static]
    count: int
    """The number of positional arguments, static ones included."""
    start: Start | None = None
    """The record to keep of the trace that follows; None for nothing."""

    def run(self) -> Any:
        """Run the program that another process traced; return `OTHER` where there is none that is
        known to be the same.
        """
        if not may_start(self.jitted, self.leaves):
            return OTHER
        state = config.state
        found = self.programs.untraced.get(self.key) or self._find()
        if found is None:
            return OTHER
        result = found.run(self.leaves)
        if result is OTHER:
            return OTHER
        bound = found.bound(self.leaves, state)
        if bound is not None and self.static:
            bound = bound_call.with_static(bound, self.static, self.count)
        if bound is not None:
            self.programs.bind(self.key, bound)
        return result

    def _find(self) -> Untraced | None:
        try:
            start = Start.of(self.jitted, self.leaves, self.tree, self.static)
            found = start.find()
        except NotDescribed as error:
            reports.not_described(self.function, self.programs.history, str(error))
            return None
        if found is None:
            self.start = start
            return None
        reports.untraced(self.function, self.programs.history)
        self.programs.keep_untraced(self.key, found)
        return found

    def begin(self) -> None:
        """Note that the function is about to be traced."""
        if self.start is not None:
            self.start.begin()

    def keep(self, program: Program) -> None:
        """Keep the program that was traced for other processes, if they may run it untraced."""
        if self.start is None:
            return
        try:
            self.start.keep(program)
        except NotDescribed as error:
            reports.not_described(self.function, self.programs.history, str(error))
