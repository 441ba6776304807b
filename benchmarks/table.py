"""Writes the tables of docs/benchmarks.md from the output of runs.

    python -m benchmarks --output all.json
    python -m benchmarks.table all.json

Of several files, such as those of runs of one family each, the rows are put together.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.reasons import MEMORY, REASONS
from benchmarks.report import LIMIT, MEMORY_LIMIT
from benchmarks.results import Measured, Results, Row, geometric_mean, load, slower

DOCUMENT = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def marks(name: str) -> tuple[str, str]:
    """Return the lines around a part of the document that is written here."""
    return f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"


def main() -> None:
    """The command line."""
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw all ratios")
    options = parser.parse_args()
    try:
        runs = [load(file) for file in options.files]
    except (OSError, ValueError) as error:
        parser.error(str(error))
    results = Results([row for run in runs for row in run.rows], runs[-1].machine)
    document = DOCUMENT.read_text("utf-8")
    for name, lines in (
        ("tables", text(results, REASONS, MEMORY)),
        ("programs", programs(results)),
    ):
        begin, end = marks(name)
        before, _, rest = document.partition(begin)
        document = before + begin + lines + end + rest.partition(end)[2]
    DOCUMENT.write_text(document, "utf-8")
    if options.plot is not None:
        from benchmarks.plot import plot

        plot(results, options.plot)


def text(results: Results, reasons: Mapping[str, str], of_memory: Mapping[str, str]) -> str:
    """The tables of the whole: means of families, what is above the limits and why."""
    parts = (
        _machine(results),
        _means(results),
        _above(results, "median", LIMIT, f"Above {LIMIT}", reasons),
        _above(results, "memory", MEMORY_LIMIT, f"Memory above {MEMORY_LIMIT}", of_memory),
    )
    return "\n".join(line for part in parts for line in (*part, "")) + "\n"


def programs(results: Results) -> str:
    """The table of all programs."""
    return "\n".join([*_programs(results), "", ""])


def _machine(results: Results) -> Iterator[str]:
    machine = results.machine
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    yield f"Measured on {machine['date']}, {machine['processor']}, {machine['cores']} cores,"
    yield f"{machine['system']}."
    if machine.get("note"):
        yield machine["note"]
    yield f"Versions: {versions}."


def _means(results: Results) -> Iterator[str]:
    yield "| family | programs | time | least time | memory | compile time | above 1.2 |"
    yield "|---|---|---|---|---|---|---|"
    for name, rows in (*results.families().items(), ("all", results.rows)):
        means = [geometric_mean(rows, of) for of in ("median", "minimum", "memory", "compiling")]
        cells = ["" if mean is None else f"{mean:.2f}" for mean in means]
        yield _row(name, str(len(rows)), *cells, str(len(slower(rows, LIMIT))))


def _above(
    results: Results, of: str, limit: float, title: str, reasons: Mapping[str, str]
) -> Iterator[str]:
    """The programs above a limit, those of one reason together."""
    yield f"### {title}"
    yield ""
    by_reason: dict[str, list[str]] = {}
    for row in slower(results.rows, limit, of):
        named = f"**{row.name}**, {row.ratio(of):.2f}"
        by_reason.setdefault(reasons.get(row.name, ""), []).append(named)
    for reason, names in by_reason.items():
        yield f"- {'; '.join(names)}" + (f": {reason}" if reason else "")


def _programs(results: Results) -> Iterator[str]:
    yield "## All programs"
    for family, rows in results.families().items():
        yield from ("", f"**{family}**", "")
        yield "| program | irax us | JAX us | ratio | least | memory | compile s | JAX s |"
        yield "|---|---|---|---|---|---|---|---|"
        yield from map(_program, rows)


def _program(row: Row) -> str:
    if row.irax is None or row.failure:
        return _row(row.name, row.failure, *[""] * 6)
    ratios = [row.ratio(of) for of in ("median", "minimum", "memory")]
    return _row(
        row.name,
        *(_microseconds(row.irax), _microseconds(row.jax)),
        *("" if ratio is None else f"{ratio:.2f}" for ratio in ratios),
        *("" if x is None else f"{x.compiling:.2f}" for x in (row.irax, row.jax)),
    )


def _microseconds(measured: Measured | None) -> str:
    if measured is None:
        return ""
    microseconds = measured.median * 1e6
    return f"{microseconds:.1f}" if microseconds < 100 else f"{microseconds:.0f}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
