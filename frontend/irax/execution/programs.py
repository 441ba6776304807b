"""The programs of a jitted function, one for each signature."""

from __future__ import annotations

from typing import Any

from irax.execution.bound_call import OTHER, BoundCall
from irax.execution.history import History
from irax.execution.program import Program

RECENT = 4
"""The number of signatures of a function whose calls take a short way."""


class Programs(dict[Any, Program]):
    """The programs of a function, by signature."""

    def __init__(self) -> None:
        self.history = History()
        self._bound: dict[Any, BoundCall] = {}
        self.recent: tuple[BoundCall, ...] = ()
        """The short ways of calls of the last few signatures."""

    def bind(self, key: Any, call: BoundCall) -> None:
        """Take the short way for calls of a signature from now on."""
        others = [item for item in self._bound.items() if item[0] != key]
        self._bound = dict([(key, call), *others][:RECENT])
        self.recent = tuple(self._bound.values())

    def called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function the short way; return `OTHER` where these arguments have none."""
        for call in self.recent:
            result = call(args, kwargs)
            if result is not OTHER:
                return result
        return OTHER

    def clear(self) -> None:
        """Remove all programs."""
        self._bound, self.recent = {}, ()
        super().clear()
        self.history.clear()
