"""The results of a run: what was measured of each program, where and when, as a JSON file."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from importlib import metadata
from math import exp, log
from pathlib import Path
from typing import Any

PACKAGES = ("irax", "iree-base-compiler", "scipy-openblas64", "numpy", "jax", "jaxlib")


@dataclass
class Measured:
    """The measurements of a program in a library."""

    minimum: float
    """Seconds of the fastest call."""
    median: float
    """Seconds of the middle one."""
    compiling: float
    """Seconds to trace and compile."""
    memory: int | None = None
    """The bytes of arguments, results and temporaries, by `memory_analysis`."""


@dataclass
class Row:
    """A program, and its measurements in irax and JAX."""

    family: str
    name: str
    irax: Measured | None = None
    jax: Measured | None = None
    """None where JAX is not installed."""
    also: Measured | None = None
    """irax on another platform."""
    failure: str = ""
    """The reason for which there are no measurements, or that the results are wrong."""

    def ratio(self, of: str = "median") -> float | None:
        """irax's time (`median`, `minimum`, `compiling`) or `memory` over JAX's; None where there
        is no right result of both.
        """
        if self.failure or self.irax is None or self.jax is None:
            return None
        ours, theirs = getattr(self.irax, of), getattr(self.jax, of)
        return ours / theirs if ours and theirs else None


@dataclass
class Results:
    """The rows of a run, and the machine that they were measured on."""

    rows: list[Row] = field(default_factory=list)
    machine: dict[str, Any] = field(default_factory=dict)

    def save(self, file: Path) -> None:
        """Writes a JSON file."""
        file.write_text(json.dumps(asdict(self), indent=1) + "\n", "utf-8")

    def families(self) -> dict[str, list[Row]]:
        """The rows of each family."""
        names = dict.fromkeys(row.family for row in self.rows)
        return {name: [row for row in self.rows if row.family == name] for name in names}


def load(file: Path) -> Results:
    """Read a JSON file.

    Raises:
        ValueError: it is not the output of a run.
    """
    try:
        read = json.loads(file.read_text("utf-8"))
        return Results([_row(row) for row in read["rows"]], read["machine"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file} is not a file that --output wrote: {error!r}") from None


def _row(read: dict[str, Any]) -> Row:
    measured = {k: Measured(**read[k]) for k in ("irax", "jax", "also") if read[k] is not None}
    return Row(**{**read, **measured})


def this_machine(**more: Any) -> dict[str, Any]:
    """The machine, the date and the versions of packages, for `Results.machine`."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "versions": versions,
        **more,
    }


def processor() -> str:
    """The processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def geometric_mean(rows: Iterable[Row], of: str = "median") -> float | None:
    """The geometric mean of ratios; None if there are none."""
    ratios = [ratio for row in rows if (ratio := row.ratio(of))]
    return exp(sum(map(log, ratios)) / len(ratios)) if ratios else None


def slower(rows: list[Row], limit: float, of: str = "median") -> list[Row]:
    """The rows whose ratio is above a limit, the worst first."""
    return _worst_first(rows, limit, lambda row: row.ratio(of))


def became_slower(rows: list[Row], before: list[Row], factor: float) -> list[tuple[Row, float]]:
    """The rows that are slower than in an earlier run by more than a factor, the worst first, each
    with its factor. Where JAX ran both times, its factor is divided out: it is the machine's.
    """
    earlier = {row.name: row for row in before}
    factors = {row.name: _growth(earlier.get(row.name), row) for row in rows}
    found = _worst_first(rows, factor, lambda row: factors[row.name])
    return [(row, factors[row.name] or 0.0) for row in found]


def _growth(before: Row | None, now: Row) -> float | None:
    if before is None or before.irax is None or now.irax is None:
        return None
    ratio, ratio_before = now.ratio(), before.ratio()
    if ratio and ratio_before:
        return ratio / ratio_before
    return now.irax.median / before.irax.median


def _worst_first(rows: list[Row], limit: float, key: Callable[[Row], float | None]) -> list[Row]:
    return sorted((r for r in rows if (key(r) or 0) > limit), key=lambda r: -(key(r) or 0))
