"""Programs of functions that this process has not traced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from irax.core.tracing import concrete_array
from irax.core.trees.known_structures import Taken
from irax.execution import bound_call
from irax.execution.bound_call import OTHER, BoundCall, forget
from irax.execution.program import DeviceProgram


@dataclass
class Loaded:
    """A program that another process traced."""

    program: DeviceProgram
    donated: Sequence[int]
    take: Taken | None

    def run(self, leaves: Sequence[Any]) -> Any:
        """Run the program; return `OTHER` where arguments were put on another device."""
        device = self.program.executable.device
        arrays = [concrete_array(x) for x in leaves]
        if any(x.committed and (x._buffer is None or x._buffer.device != device) for x in arrays):
            return OTHER
        buffers = [*(x.buffer(device) for x in arrays), *self.program.captured]
        found = self.program.executable.run(buffers)
        forget(leaves, self.donated)
        return self.program.results(found, any(x.committed for x in arrays))

    def bound(self, leaves: Sequence[Any], state: Any) -> BoundCall | None:
        """Return the short way of calls like one that has just run, with these leaves."""
        own = self.program
        given = (own.executable, leaves, self.take, own.captured, own.results, state, self.donated)
        return bound_call.bound_call(*given)
