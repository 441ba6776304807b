"""Spans of time: what is done, and how long it takes.

Spans are recorded where somebody asks for them: in a thread (`collecting`) or in the whole process
(`start`). Otherwise they cost next to nothing.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Span:
    """The time that something took, between two readings of `time.perf_counter_ns`."""

    kind: str
    """The kind of work: "trace", with "transform"; "compile", with "lower" (each "pass"), "target"
    ("cache", each "phase") and "load"; "execute", "evaluate"; "user"."""
    name: str
    begin: int
    end: int
    thread: int
    """The thread's number in the operating system."""
    details: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def seconds(self) -> float:
        """The time that it took."""
        return (self.end - self.begin) / 1e9


class _Here(threading.local):
    lists: tuple[list[Span], ...] = ()


_here = _Here()
_everywhere: list[Span] | None = None


def start() -> None:
    """Begin to record the spans of all threads."""
    global _everywhere
    _everywhere = []


def stop() -> list[Span]:
    """Stop recording the spans of all threads; return those that have ended."""
    global _everywhere
    found, _everywhere = _everywhere or [], None
    return found


def lists() -> Sequence[list[Span]]:
    """The lists to which spans of this thread go: for another thread that works for it."""
    return _here.lists


@contextmanager
def recorded_in(lists: Sequence[list[Span]]) -> Iterator[None]:
    """In a `with` block, spans of this thread go to these lists, and to no others."""
    outer, _here.lists = _here.lists, tuple(lists)
    try:
        yield
    finally:
        _here.lists = outer


def collecting(into: list[Span]) -> AbstractContextManager[None]:
    """In a `with` block, spans of this thread go to one more list."""
    return recorded_in((*_here.lists, into))


@contextmanager
def span(kind: str, name: str, **details: Any) -> Iterator[dict[str, Any]]:
    """Record the time that a `with` block takes, if that is recorded.

    Yields the details, to which the block may add.
    """
    if not _here.lists and _everywhere is None:
        yield details
        return
    begin = time.perf_counter_ns()
    try:
        yield details
    finally:
        add(kind, name, begin, details)


def add(kind: str, name: str, begin: int, details: dict[str, Any]) -> None:
    """Record a span that ends now and began at a reading of `time.perf_counter_ns`."""
    into = _here.lists if _everywhere is None else (*_here.lists, _everywhere)
    if not into:
        return
    found = Span(kind, name, begin, time.perf_counter_ns(), threading.get_native_id(), details)
    for one in into:
        one.append(found)


def spanned(kind: str, name: str, function: Callable[P, R]) -> Callable[P, R]:
    """Return a function whose calls are spans."""

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        with span(kind, name):
            return function(*args, **kwargs)

    return called


# ---- tables --------------------------------------------------------------------------------------


def seconds(found: Iterable[Span]) -> float:
    """Return the time that spans took; what one within another took counts once."""
    return sum(s.seconds for s in _outermost(found))


def table(found: Sequence[Span], least: float = 0.01) -> str:
    """Return a table of spans, each below the one that contains it. Those of one name are summed
    up, and so are those that took a smaller share of the whole than `least`.

    >>> print(table([Span("pass", "simplify", 0, 10**8, 1), Span("lower", "f", 0, 3 * 10**8, 1)]))
    lower f                                0.300 s  100 %
      pass simplify                        0.100 s   33 %
    """
    return "\n".join(_lines(found, seconds(found), least, 0))


def _outermost(found: Iterable[Span]) -> list[Span]:
    """The spans that no other contains, in order."""
    top: list[Span] = []
    for one in sorted(found, key=lambda s: (s.begin, -s.end)):
        if not top or not _contains(top[-1], one):
            top.append(one)
    return top


def _lines(found: Sequence[Span], whole: float, least: float, depth: int) -> Iterator[str]:
    groups: dict[tuple[str, str], list[Span]] = {}
    for one in _outermost(found):
        groups.setdefault((one.kind, one.name), []).append(one)
    small: list[Span] = []
    for (kind, name), group in groups.items():
        took = sum(s.seconds for s in group)
        if depth and took < least * whole:
            small += group
            continue
        times = f" x {len(group)}" if len(group) > 1 else ""
        yield _line(f"{kind} {name}{times}", took, whole, depth)
        inner = [s for s in found if any(s is not g and _contains(g, s) for g in group)]
        yield from _lines(inner, whole, least, depth + 1)
    if small:
        yield _line(f"{len(small)} shorter", seconds(small), whole, depth)


def _contains(outer: Span, inner: Span) -> bool:
    return outer.begin <= inner.begin and inner.end <= outer.end


def _line(name: str, took: float, whole: float, depth: int) -> str:
    share = took / whole if whole else 0.0
    return f"{'  ' * depth + name:36} {took:7.3f} s {100 * share:4.0f} %"
