"""Profiles in memory: planes, lines and events, as JAX's profiles have them."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from irax.core.tables import table

_Event = Mapping[str, Any]
"""An event in Chrome's trace format."""

_MOST = 20
"""The most rows of a summary."""


class Summary(str):
    """The table of a profile, as text: Python's prompt shows it as such, and a notebook as a table.

    >>> Summary("total  name")
    total  name
    """

    html = ""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.html


@dataclass
class ProfileOptions:
    """The options of a profile. `host_tracer_level` is 0 for nothing, 1 for the program's own
    annotations, and 2 for all spans. `session_id` names the folder of the files. The other options
    are of no effect: there are no spans of Python's calls, of data sets or of XLA's programs.

    >>> options = irax.profiler.ProfileOptions()
    >>> options.host_tracer_level = 1
    """

    host_tracer_level: int = 2
    device_tracer_level: int = 1
    python_tracer_level: int = 1
    session_id: str = ""
    enable_hlo_proto: bool = True
    include_dataset_ops: bool = True
    raise_error_on_start_failure: bool = False
    repository_path: str = ""
    duration_ms: int = 0
    start_timestamp_ns: int = 0
    advanced_configuration: dict[str, Any] = field(default_factory=dict)


class ProfileEvent:
    """A span of a profile."""

    def __init__(self, event: _Event) -> None:
        self._event = event

    @property
    def name(self) -> str:
        """The name of the span."""
        return self._event["name"]

    @property
    def start_ns(self) -> float:
        """The time of its begin, in nanoseconds."""
        return self._event["ts"] * 1000

    @property
    def duration_ns(self) -> float:
        """The time that it took, in nanoseconds."""
        return self._event["dur"] * 1000

    @property
    def end_ns(self) -> float:
        """The time of its end, in nanoseconds."""
        return self.start_ns + self.duration_ns

    @property
    def stats(self) -> Iterator[tuple[str, Any]]:
        """The details that were given with it."""
        return iter(self._event.get("args", {}).items())

    def __repr__(self) -> str:
        return f"<{self.name}: {self.duration_ns / 1000:g} us>"


class ProfileLine:
    """The spans of a thread."""

    def __init__(self, name: str, events: Sequence[_Event]) -> None:
        self.name: str = name
        self._events = events

    @property
    def events(self) -> Iterator[ProfileEvent]:
        """The spans."""
        return map(ProfileEvent, self._events)


class ProfilePlane:
    """The threads of a process."""

    def __init__(self, name: str, process: int, events: Sequence[_Event]) -> None:
        self.name: str = name
        self._process, self._events = process, events

    @property
    def lines(self) -> Iterator[ProfileLine]:
        """The threads."""
        names = {e["tid"]: e["args"]["name"] for e in self._events if e["ph"] == "M"}
        for tid, name in names.items():
            spans = [e for e in self._events if e["ph"] == "X" and e["tid"] == tid]
            yield ProfileLine(name, spans)

    @property
    def stats(self) -> Iterator[tuple[str, Any]]:
        """The number of the process."""
        return iter([("process_id", self._process)])


class ProfileData:
    """A profile."""

    def __init__(self, events: Sequence[_Event]) -> None:
        self._events = list(events)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> ProfileData:
        """Return the profile of a file `NAME.trace.json.gz`.

        Args:
            path: the file.

        Raises:
            ValueError: it is no such file.
        """
        try:
            content = gzip.decompress(Path(path).read_bytes())
            events = json.loads(content)["traceEvents"]
        except (gzip.BadGzipFile, json.JSONDecodeError, KeyError, TypeError) as error:
            raise ValueError(
                f"ProfileData.from_file: expected a file *.trace.json.gz, got {path}: {error}"
            ) from None
        return cls([e for e in events if e.get("ph") in ("M", "X")])

    @property
    def planes(self) -> Iterator[ProfilePlane]:
        """The processes; there is one, the host's."""
        for process in sorted({e["pid"] for e in self._events}):
            events = [e for e in self._events if e["pid"] == process]
            yield ProfilePlane("/host:CPU", process, events)

    def find_plane_with_name(self, name: str) -> ProfilePlane | None:
        """Return the plane of a name; None if there is none.

        Args:
            name: such as "/host:CPU".
        """
        return next((p for p in self.planes if p.name == name), None)

    def summary(self, most: int = _MOST) -> str:
        """Return a table of what the time went to, the longest first. Spans within others count
        for both, so shares may be more than 100% together.

        Args:
            most: the most lines of it.

        >>> with irax.profiler.trace() as session:
        ...     y = irax.jit(jnp.sin)(1.0).block_until_ready()
        >>> print(session.profile_data.summary().splitlines()[0].split())
        ['total', 'count', 'mean', 'kind', 'name']
        """
        rows = self._rows()
        lines = [f"{'total':>12}{'count':>8}{'mean':>12}  {'kind':<10}name"]
        for kind, name, count, took in rows[:most]:
            total, mean = _time(took), _time(took / count)
            lines.append(f"{total:>12}{count:>8}{mean:>12}  {kind:<10}{name}")
        if len(rows) > most:
            rest = sum(row[3] for row in rows[most:])
            lines.append(f"{_time(rest):>12}  {len(rows) - most} others")
        found = Summary("\n".join(lines))
        found.html = self._table(most)
        return found

    def _repr_html_(self) -> str:
        """As a notebook shows it: the table of its summary."""
        return self._table(_MOST)

    def _table(self, most: int) -> str:
        rows = self._rows()
        if len(rows) > most:
            others = rows[most:]
            counts, times = sum(row[2] for row in others), sum(row[3] for row in others)
            rows[most:] = [("", f"{len(others)} others", counts, times)]
        cells = [(kind, name, n, took / 1e3, took / n / 1e3) for kind, name, n, took in rows]
        return table(["kind", "name", "count", "total (ms)", "mean (ms)"], cells)

    def _rows(self) -> list[tuple[str, str, int, float]]:
        """Kind, name, count and time in microseconds of all spans of a name, the longest first."""
        counts: dict[tuple[str, str], tuple[int, float]] = {}
        for event in self._events:
            if event["ph"] == "X":
                key = event["cat"], event["name"]
                count, took = counts.get(key, (0, 0.0))
                counts[key] = count + 1, took + event["dur"]
        rows = [(*key, count, took) for key, (count, took) in counts.items()]
        return sorted(rows, key=lambda row: -row[3])

    def content(self) -> bytes:
        """Return the bytes of a file."""
        written = {"displayTimeUnit": "ms", "traceEvents": self._events}
        return gzip.compress(json.dumps(written).encode())


def _time(microseconds: float) -> str:
    """A time in a unit that suits it."""
    if microseconds < 1e3:
        return f"{microseconds:.1f} us"
    return f"{microseconds / 1e3:.2f} ms" if microseconds < 1e6 else f"{microseconds / 1e6:.2f} s"
