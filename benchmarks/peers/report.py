"""The page of a run: docs/reports/peers.md."""

from __future__ import annotations

from math import exp, log
from typing import Any

from benchmarks.peers.race import Row
from benchmarks.peers.roofline import Rates

HEAD = """# Beside PyTorch, OpenVINO, Numba and JAX

Programs of everyday work, as users of each library write them, on one machine in one run: the
libraries take turns, and their results are compared. `make peers` measures them and writes this
page; `make peers PEERS_ARGS="--only cumulative"` races those that have this in their name. The
programs are in `benchmarks/peers`.

- All use {threads} thread(s), and float32 (OpenVINO by its hint `f32`), unless the name says
  otherwise.
- Times are {times}, in microseconds. **ratio** is irax's over the fastest other's.
- **roofline** is what the machine needs at least: bytes over the bandwidth, or operations over the
  rate of large products, both measured in the same run. **of it** is its share of irax's time: a
  program above 0.7 is as fast as it will be.
- First calls include tracing and compilation, from empty caches; imports are not included.
"""


def page(rows: list[Row], rates: Rates, about: dict[str, Any]) -> str:
    """The text of the page."""
    libraries = about["libraries"]
    others = [name for name in libraries if name != "irax"]
    behind = sorted((r for r in rows if (r.ratio() or 0) > 1.15), key=lambda r: -(r.ratio() or 0))
    lines = [
        HEAD.format(threads=about["threads"], times=about["times"]),
        *(f"**{about['note']}**\n" for _ in [0] if about["note"]),
        f"Of {len(rows)} programs, irax takes **{_mean(rows, 'best')}** of the fastest other's "
        "time (geometric mean). "
        + ", ".join(f"{_mean(rows, name)} of {name}'s ({_count(rows, name)})" for name in others)
        + ".",
        "",
        f"## Behind by more than 1.15: {len(behind)}",
        "",
        "| program | irax | fastest other | ratio | of the roofline |",
        "|---|---|---|---|---|",
        *(
            f"| {r.name} | {_us(r.times['irax'])} | {r.best()} {_us(r.times[r.best()])} "
            f"| {r.ratio():.2f} | {_share(r)} |"
            for r in behind
        ),
        "",
        "## All programs",
        "",
        f"| program | roofline | {' | '.join(libraries)} | ratio | of it |",
        "|---" * (len(libraries) + 4) + "|",
        *(_line(r, libraries) for r in rows),
        "",
        "## First calls",
        "",
        "Seconds.",
        "",
        f"| program | {' | '.join(libraries)} |",
        "|---" * (len(libraries) + 1) + "|",
        *(
            f"| {r.name} | "
            + " | ".join(f"{r.first[n]:.2f}" if n in r.first else "" for n in libraries)
            + " |"
            for r in rows
        ),
        "",
        *_failures(rows),
        "## Machine",
        "",
        f"{about['processor']}, {about['cores']} cores, {about['system']}; {about['date']}. "
        + ", ".join(f"{name} {version}" for name, version in about["versions"].items())
        + ".",
        "",
        "Bandwidth: "
        + ", ".join(
            f"{rate / 1e9:.0f} GB/s at {size / 2**20:.0f} MiB"
            for size, rate in rates.bandwidth.items()
        )
        + ". Products: "
        + ", ".join(f"{rate / 1e9:.0f} Gflop/s in {dtype}" for dtype, rate in rates.flops.items())
        + ".",
    ]
    return "\n".join(lines) + "\n"


def line(row: Row) -> str:
    """A line of the terminal, while programs are measured."""
    times = " ".join(f"{name} {_us(seconds)}" for name, seconds in row.times.items())
    ratio = row.ratio()
    failed = "".join(f"\n    {name}: {why}" for name, why in row.failures.items())
    return (
        f"{row.name}: {times} | {'-' if ratio is None else f'{ratio:.2f}'} of {row.best()}{failed}"
    )


def _line(row: Row, libraries: list[str]) -> str:
    times = " | ".join(_us(row.times[name]) if name in row.times else "" for name in libraries)
    ratio = row.ratio()
    return (
        f"| {row.name} | {_us(row.least)} | {times} | {'' if ratio is None else f'{ratio:.2f}'} "
        f"| {_share(row)} |"
    )


def _failures(rows: list[Row]) -> list[str]:
    failed = [f"- {r.name}, {name}: {why}" for r in rows for name, why in r.failures.items()]
    return ["## Left out", "", *failed, ""] if failed else []


def _us(seconds: float) -> str:
    us = seconds * 1e6
    return f"{us:.1f}" if us < 100 else f"{us:.0f}"


def _share(row: Row) -> str:
    return f"{row.least / row.times['irax']:.2f}" if "irax" in row.times else ""


def _ratios(rows: list[Row], other: str) -> list[float]:
    names = [(row, row.best() if other == "best" else other) for row in rows]
    return [
        row.times["irax"] / row.times[name]
        for row, name in names
        if name in row.times and "irax" in row.times
    ]


def _mean(rows: list[Row], other: str) -> str:
    found = _ratios(rows, other)
    return f"{exp(sum(map(log, found)) / len(found)):.2f}" if found else "-"


def _count(rows: list[Row], other: str) -> int:
    return len(_ratios(rows, other))
