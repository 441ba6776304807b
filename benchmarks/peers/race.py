"""Races of a program: libraries take turns, so that all see the same noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.peers import libraries
from benchmarks.peers.families import RACES
from benchmarks.peers.program import Race
from benchmarks.peers.roofline import Rates
from benchmarks.peers.worker import Worker, WorkerError
from benchmarks.timing import median


@dataclass
class Row:
    """The measurements of a program: seconds by library."""

    name: str
    least: float = 0.0
    """The seconds of the roofline."""
    times: dict[str, float] = field(default_factory=dict)
    """The median of calls."""
    first: dict[str, float] = field(default_factory=dict)
    """The first call, compilation included."""
    failures: dict[str, str] = field(default_factory=dict)
    """The libraries that failed, or whose results differ from irax's, and how."""

    def best(self) -> str:
        """The name of the fastest other library, or "" if there is none."""
        others = [name for name in self.times if name != "irax"]
        return min(others, key=lambda name: self.times[name], default="")

    def ratio(self) -> float | None:
        """irax's time over that of the fastest other."""
        best = self.best()
        return self.times["irax"] / self.times[best] if best and "irax" in self.times else None


@dataclass(frozen=True)
class Settings:
    """Settings of a run."""

    libraries: tuple[str, ...] = libraries.LIBRARIES
    threads: int = 2
    turn: float = 0.1
    """Seconds of a turn."""
    rounds: int = 5
    processor_time: bool = False
    """Measure the time of the process on processors, not the clock's: on a busy machine."""
    limit: float = 120.0
    """Seconds that a library may take for a step of a race, with compilation."""


def rates(settings: Settings) -> Rates:
    """The measured rates of this machine, by PyTorch in a process of its own."""
    worker = Worker("PyTorch", settings.threads, settings.limit)
    try:
        return worker.rates(settings.processor_time)
    finally:
        worker.close()


def race_all(names: list[str], settings: Settings, rates: Rates) -> Iterator[Row]:
    """The row of each program."""
    workers = {name: Worker(name, settings.threads, settings.limit) for name in settings.libraries}
    try:
        for name in names:
            yield _race(RACES[name], workers, rates, settings)
    finally:
        for worker in workers.values():
            worker.close()


def _race(race: Race, workers: dict[str, Worker], rates: Rates, settings: Settings) -> Row:
    row = Row(race.name)
    expected: list[np.ndarray[Any, Any]] | None = None
    racing: list[str] = []
    for name, worker in workers.items():
        if not libraries.races(name, race):
            continue
        try:
            row.first[name], found = worker.prepare(race.name)
        except WorkerError as error:
            row.failures[name] = str(error)
            continue
        expected = found if expected is None else expected
        if wrong := _difference(expected, found, race.tolerance):
            row.failures[name] = wrong
        else:
            racing.append(name)
    moved = race.bytes or _bytes(race, expected or [])
    row.least = rates.least(moved, race.flops, race.peak)
    times: dict[str, list[float]] = {name: [] for name in racing}
    for _ in range(settings.rounds):
        for name in [name for name in racing if name not in row.failures]:
            try:
                times[name] += workers[name].turn(settings.turn, settings.processor_time)
            except WorkerError as error:
                row.failures[name] = str(error)
    row.times = {name: median(found) for name, found in times.items() if found}
    return row


def _difference(expected: list[Any], found: list[Any], tolerance: float) -> str:
    """Say how results differ, "" if they do not."""
    if [a.shape for a in expected] != [a.shape for a in found]:
        return f"shapes {[a.shape for a in found]}, not {[a.shape for a in expected]}"[:200]
    for a, b in zip(expected, found, strict=True):
        difference, size = np.sum(np.abs(a - b)), np.sum(np.abs(a))
        if not difference <= tolerance * size + 1e-30:
            return f"results differ by {difference / (size + 1e-30):.2g}"
    return ""


def _bytes(race: Race, results: list[Any]) -> float:
    """The bytes of arguments and results; results are counted as four bytes an element."""
    arguments = libraries.sizes(race.draw())
    return float(arguments + sum(4 * x.size for x in results))
