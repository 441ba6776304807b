"""Explanations: for what a jitted function was traced and compiled, and why again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from irax.core.tables import table
from irax.core.trees.flattening import name_of
from irax.execution.diagnostics import differences
from irax.execution.diagnostics.differences import Difference
from irax.execution.diagnostics.history import Entry, History
from irax_compiler import spans
from irax_compiler.spans import Span

_JIT_ONCE = (
    "call jit once and keep what it returns: outside of loops, and of functions that are called "
    "often"
)


@dataclass(frozen=True)
class Trace:
    """A trace of a jitted function, and the compilations of its program."""

    place: str
    """The file and line of the call."""
    signature: str
    """The types of the arguments."""
    differences: tuple[Difference, ...]
    """The differences from the earlier call that is most like this one; none for the first."""
    reason: str
    """The reason for the trace where it is none of the differences."""
    is_part: bool
    """True if it was traced as a part of another program, and not compiled for itself."""
    spans: tuple[Span, ...]
    """The times of its parts."""

    @property
    def why(self) -> str:
        """The reason for the trace, and what to do where there should be none."""
        if not self.differences:
            return self.reason
        advice = dict.fromkeys(d.advice for d in self.differences)
        return f"{'; '.join(d.text for d in self.differences)}: {'; '.join(advice)}"

    def seconds(self, kind: str) -> float:
        """Return the time that the spans of a kind took: "trace", "lower", "target", "load"."""
        return spans.seconds(s for s in self.spans if s.kind == kind)

    @property
    def devices(self) -> list[str]:
        """The devices that the program was compiled for."""
        found = (s.details["for"] for s in self.spans if s.kind == "compile")
        return list(dict.fromkeys(found))

    @property
    def is_from_cache(self) -> bool:
        """True if the cache on disk had the program."""
        looked = [s.details["found"] for s in self.spans if s.kind == "cache"]
        return bool(looked) and all(looked)

    @property
    def kernels(self) -> tuple[int, int]:
        """The number of kernels that were compiled, and of those whose code the cache had."""
        looked = [s.details for s in self.spans if s.kind == "kernels"]
        return sum(x["new"] for x in looked), sum(x["known"] for x in looked)

    def __str__(self) -> str:
        lines = [f"{self.place}: {self.signature}", f"   {self.why}"]
        taken = [(_NAMES.get(kind, kind), self.seconds(kind)) for kind in _KINDS]
        times = ", ".join(f"{name} {seconds:.3f} s" for name, seconds in taken if seconds)
        part = "part of another program: " if self.is_part else ""
        kept = " (found in the cache on disk)" if self.is_from_cache else ""
        if times:
            lines.append(f"   {part}{times}{kept}")
        new, known = self.kernels
        if known:
            lines.append(f"   {new} of {new + known} kernels were new to the cache")
        if len(self.devices) > 1:
            lines.append(f"   compiled for {', '.join(self.devices)}")
        return "\n".join(lines)


_KINDS = ("trace", "lower", "target", "load")
"""The kinds of spans that times are told of, none of which contains another."""
_NAMES = {"target": "compile"}
"""The names of kinds that readers know by other ones."""


class Explanation(Sequence[Trace]):
    """The traces of a jitted function, the oldest first; its text is for reading."""

    def __init__(
        self,
        name: str,
        traces: Sequence[Trace],
        traced: int,
        compiled: int,
        sizes: Sequence[str] = (),
        starts: Sequence[str] = (),
        repeated: Sequence[str] = (),
        detours: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.repeated = tuple(repeated)
        """The lines that a trace met many times, as loops of Python's have them."""
        self.detours = tuple(detours)
        """The lines that compute much more than their results need, and what to write instead."""
        self.starts = tuple(starts)
        """For first calls, why each process traces them, or that this one did not."""
        self.sizes = tuple(sizes)
        """The programs that are for all sizes, and the reasons why there are none, where the option
        `dynamic_shapes` asks for them."""
        self.traced = traced
        """The number of traces, of which the last ones are kept."""
        self.compiled = compiled
        """The number of programs that were compiled."""
        self._traces = tuple(traces)

    def __getitem__(self, index: Any) -> Any:
        return self._traces[index]

    def __len__(self) -> int:
        return len(self._traces)

    def table(self, least: float = 0.01) -> str:
        """Return a table of what the time went to: tracing, each pass, each phase of IREE's
        compiler, loading. Parts that took a smaller share than `least` are summed up.
        """
        return spans.table([s for trace in self for s in trace.spans], least)

    def __str__(self) -> str:
        head = f"{self.name}: {_times(self.traced, 'traced')}, {_times(self.compiled, 'compiled')}"
        first = self.traced - len(self) + 1
        numbered = [f"{number}. {trace}" for number, trace in enumerate(self, first)]
        return "\n".join(
            [head, *self.sizes, *self.starts, *numbered, *self.repeated, *self.detours]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """As a notebook shows it: a line for each trace."""
        heads = ["call", "arguments", "why", *(f"{_NAMES.get(k, k)} (s)" for k in _KINDS)]
        rows = [
            [t.place, t.signature, t.why, *(float(t.seconds(kind)) for kind in _KINDS)]
            for t in self
        ]
        return table(heads, rows, str(self).partition("\n")[0])


def _times(count: int, what: str) -> str:
    return f"{what} {'once' if count == 1 else f'{count} times'}"


def explain(fun: Callable[..., Any]) -> Explanation:
    """Return why a jitted function was traced and compiled: for each time the call, what differed
    from earlier calls, what to do about it, and the time that it took.

    Args:
        fun: what `irax.jit` returned, or a method of it.

    Raises:
        TypeError: it is not a jitted function.

    >>> double = irax.jit(lambda x: x * 2)
    >>> results = [double(x) for x in (1.0, 2.0, jnp.ones(3))]
    >>> irax.explain(double)[1].differences[0].text
    'x is float32[3], before float32[] (weak)'
    """
    while isinstance(fun, partial):
        fun = fun.func
    histories = getattr(fun, "histories", None)
    if histories is None:
        raise TypeError(
            f"explain: expected a function that irax.jit returned, got {fun!r} of type "
            f"{type(fun).__name__}: f = irax.jit(f), call f, and explain(f)"
        )
    found: list[tuple[History, Callable[..., Any]]] = histories()
    return Explanation(
        name_of(fun),
        [trace for history, function in found for trace in explained(history, function)],
        sum(history.traced for history, _ in found),
        sum(history.compiled for history, _ in found),
        getattr(fun, "programs_for_all_sizes", list)(),
        getattr(fun, "starts", list)(),
        getattr(fun, "repeated_lines", list)(),
        getattr(fun, "detours", list)(),
    )


def explained(history: History, function: Callable[..., Any]) -> Iterator[Trace]:
    """Yield the traces of a function that are kept, each compared with those before it."""
    entries = list(history.entries)
    for number in range(len(entries)):
        yield _explained(history, function, entries[: number + 1])


def latest(history: History, function: Callable[..., Any]) -> Trace:
    """Return the last trace of a function, compared with those before it."""
    return _explained(history, function, list(history.entries))


def _explained(history: History, function: Callable[..., Any], entries: Sequence[Entry]) -> Trace:
    *earlier, entry = entries
    found: list[Difference] = []
    if entry.is_after_clear:
        reason = "its programs had been removed, by clear_caches or clear_cache"
    elif entry.others:
        reason = (
            f"it is a new function, and {entry.others} others of the same lines were traced for "
            f"the same arguments: {_JIT_ONCE}"
        )
    elif earlier:
        found = differences.nearest(function, entry.key, [e.key for e in earlier])
        reason = "" if found else "another thread traced it at the same time"
    else:
        is_first = history.traced == len(history.entries)
        reason = "it is traced for the first time" if is_first else "earlier calls are not kept"
    signature = differences.signature_text(function, entry.key)
    return Trace(entry.place, signature, tuple(found), reason, entry.is_part, tuple(entry.spans))


def warning(history: History, function: Callable[..., Any], alike: int, often: int) -> str | None:
    """Return the text that warns of a function that is compiled again and again: for so many
    signatures that differ in one way, or so often at all. None where it is not.
    """
    name = name_of(function)
    others = history.entries[-1].others
    if others:
        last = latest(history, function)
        is_due = others + 1 == often
        return f"jit: {name} is compiled again and again: {last.reason}" if is_due else None
    traces = [t for t in explained(history, function) if not t.is_part]
    counted = Counter((d.argument, d.what) for t in traces for d in t.differences)
    if not counted:
        return None
    (argument, what), count = counted.most_common(1)[0]
    if count + 1 < alike:  # of one argument now, of another one then
        of_any = Counter(what for t in traces for what in {d.what for d in t.differences})
        if (most := of_any.most_common(1)[0])[1] > count:
            (what, count), argument = most, "one of its arguments"
    if count + 1 < alike and history.compiled < often:
        return None
    seconds = sum(t.seconds(kind) for t in traces for kind in _KINDS)
    advice = next(d.advice for t in traces for d in t.differences if d.what == what)
    return (
        f"jit: {name} has been compiled {history.compiled} times, in {seconds:.1f} s, for "
        f"different arguments. {count} times it was {what} of {argument}: {advice}. "
        f"irax.explain({name}) tells of each time"
    )
