"""The programs of a jitted function, one for each signature."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from typing import Any

from irax.execution.bound_call import OTHER, BoundCall
from irax.execution.diagnostics.history import History
from irax.execution.loaded import Loaded
from irax.execution.program import Program

MOST = 1024
"""The most programs that a function keeps: 50 to 100 MiB of small ones. Those that were not called
for longest make room for others, which the cache on disk has.
"""
RECENT = 4
"""The number of signatures of a function whose calls take a short way."""


class Programs(OrderedDict[Any, Program]):
    """The programs of a function, by signature; those called last are the last."""

    def __init__(self) -> None:
        super().__init__()
        self.history = History()
        self.loaded: dict[Any, Loaded] = {}
        """The programs of signatures that another process traced."""
        self._bound: dict[Any, BoundCall] = {}
        self.direct: Programs | None = None
        """Short ways for which arguments and results need nothing done (see `DividedFunction`)."""
        self.recent: tuple[BoundCall, ...] = ()
        """The short ways of calls of the last few signatures."""

    def find(self, key: Any) -> Program | None:
        """Return the program for a signature, if there is one."""
        try:
            program = self.get(key)
        except Exception:  # from a comparison of static data, such as arrays in a pytree's aux_data
            self._drop_incomparable(key)
            program = self.get(key)
        if program is not None:
            with suppress(KeyError):  # another thread has removed it
                self.move_to_end(key)
        return program

    def keep(self, key: Any, program: Program) -> Program:
        """Return the program for a signature, which is this one if there was none."""
        kept = self.setdefault(key, program)
        while len(self) > MOST:
            with suppress(KeyError):  # another thread has removed the last one
                self.popitem(last=False)
        return kept

    def _drop_incomparable(self, key: Any) -> None:
        """Remove the programs of signatures that cannot be compared with this one: no later call
        could find them.
        """
        kept = [item for item in self.items() if _equal(item[0], key) is not None]
        super().clear()
        for other, program in kept:
            self[other] = program

    def keep_loaded(self, key: Any, program: Loaded) -> None:
        """Keep the program of a signature that another process traced."""
        if len(self.loaded) >= MOST:
            self.loaded.clear()
        self.loaded[key] = program

    def bind(self, key: Any, call: BoundCall) -> None:
        """Take the short way for calls of a signature from now on."""
        others = [item for item in self._bound.items() if _equal(item[0], key) is False]
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
        if self.direct is not None:
            self.direct.clear()
        self.loaded.clear()
        super().clear()
        self.history.clear()


def _equal(a: Any, b: Any) -> bool | None:
    """Return True if two signatures are equal, and None if their static data cannot be compared."""
    try:
        return bool(a == b)
    except Exception:
        return None
