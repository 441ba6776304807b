"""The traces of jitted functions, which `irax.explain` tells of.

They are noted when a function is traced: calls of a signature that is known do nothing here.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from irax.core import source
from irax_compiler.spans import Span

KEPT = 100
"""The number of a function's traces that are told of: the last ones."""

_MOST_LINES = 10_000
"""The number of lines and signatures whose functions are counted, so that memory is bounded."""

Key = tuple[Any, ...]
"""The signature of a call: structure, static arguments, options, types of the leaves."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A trace of a function."""

    key: Key
    place: str
    """The file and line of the call."""
    is_part: bool
    """True if it was traced as a part of another program, and not compiled for itself."""
    others: int
    """The number of other functions of the same code that were traced for this signature."""
    is_after_clear: bool
    """True if the traces before it were cleared."""
    spans: list[Span] = field(default_factory=list[Span])
    """The times of the trace and of the compilations of the program."""


class History:
    """The traces of one function."""

    def __init__(self) -> None:
        self.entries: deque[Entry] = deque(maxlen=KEPT)
        self.traced = 0
        self.compiled = 0
        self.starts: deque[str] = deque(maxlen=KEPT)
        """Sentences about first calls: why they traced, or that they did not."""
        self.is_warned_of = False
        """True if a warning has told that it is compiled again and again."""
        self._is_cleared = False

    def clear(self) -> None:
        """Note that programs were removed: the next trace is due to that."""
        self._is_cleared = self.traced > 0

    def add(self, function: Callable[..., Any], key: Key, is_part: bool) -> Entry:
        """Note that a function is about to be traced; return the entry of that."""
        others = 0 if self.traced or is_part else _count_others(function, key)
        place = source.user_place() or "an unknown line"
        entry = Entry(key, place, is_part, others, self._is_cleared)
        self._is_cleared = False
        if len(self.entries) == KEPT:
            self.entries[0].spans.clear()  # its program has them, too
        self.entries.append(entry)
        self.traced += 1
        self.compiled += not is_part
        return entry


# ---- functions that are made anew ----------------------------------------------------------------

_made: dict[tuple[Any, ...], tuple[int, weakref.ref[Any]]] = {}
"""The number of functions of one code that were traced for one signature, and the last of them."""


def _count_others(function: Callable[..., Any], key: Key) -> int:
    """Count a function that is traced for the first time; return the number of others like it: of
    the same lines of the user's, traced for the same signature.
    """
    code = code_of(function)
    if code is None or source.is_internal(code.co_filename):
        return 0
    try:
        line = code.co_filename, code.co_firstlineno, code.co_name, hash(key)
        reference = weakref.ref(function)
    except TypeError:
        return 0
    count, last = _made.get(line, (0, None))
    if last is None or last() is not function:
        count += 1
    if len(_made) >= _MOST_LINES:
        _made.clear()
    _made[line] = count, reference
    return count - 1


def code_of(function: Any) -> Any:
    """Return the code of the user's function inside of wrappers and partials; None without any."""
    while True:
        inner = inspect.unwrap(function) if callable(function) else function
        if isinstance(inner, functools.partial):
            inner = inner.func
        if inner is function:
            return getattr(function, "__code__", None)
        function = inner
