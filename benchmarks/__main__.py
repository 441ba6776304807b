"""Measures programs of many kinds beside JAX; a ratio below 1 says that irax is faster.

python -m benchmarks --family loops --output loops.json
python -m benchmarks --against loops.json --family loops
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path

from benchmarks import report
from benchmarks.families import FAMILIES
from benchmarks.load import busy_processes
from benchmarks.measure import Settings, measure_all
from benchmarks.results import Results, load, this_machine


def main() -> None:
    """The command line."""
    parser = _parser()
    options = parser.parse_args()
    chosen = _chosen(options.family, options.only)
    if not chosen:
        parser.error(f"--only: no program of these families has {options.only!r} in its name")
    try:
        before = None if options.against is None else load(options.against)
    except (OSError, ValueError) as error:
        parser.error(f"--against: {error}")
    settings = Settings(options.turn, options.limit, options.processor_time, options.also)
    about = {"loaded": options.loaded, "clock": _clock(settings), "note": options.note}
    results = Results(machine=this_machine(**about))
    print(report.head(options.also))
    with busy_processes() if options.loaded else nullcontext():
        for row in measure_all(chosen, settings):
            results.rows.append(row)
            print(report.line(row), flush=True)
            if options.output is not None:
                results.save(options.output)
    print("", *report.summary(results), sep="\n")
    if before is not None:
        print("", *report.comparison(results, before, options.factor), sep="\n")
    if options.plot is not None:
        from benchmarks.plot import plot

        plot(results, options.plot)


def _parser() -> argparse.ArgumentParser:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    add = parser.add_argument
    add("--family", nargs="+", choices=FAMILIES, help="run these families (default: all)")
    add("--only", default="", metavar="TEXT", help="run the programs that have this in their name")
    add("--output", type=Path, metavar="FILE", help="write the results as JSON")
    add("--against", type=Path, metavar="FILE", help="name what is slower than in that output")
    add("--factor", type=float, default=1.2, help="... by more than this (default: 1.2)")
    add("--loaded", action="store_true", help="keep each core busy with another process meanwhile")
    add("--processor-time", action="store_true", help="measure processor time, not the clock's")
    add("--turn", type=float, default=Settings.turn, help="seconds of a measurement")
    add("--limit", type=float, default=Settings.limit, help="seconds that a program may take")
    add("--also", metavar="PLATFORM", help="run irax's on pjrt:cpu, ... as well")
    add("--note", default="", metavar="TEXT", help="say this of the machine in the results")
    add("--plot", type=Path, metavar="FILE", help="draw all ratios (needs irax[examples])")
    return parser


def _chosen(families: list[str] | None, text: str) -> dict[str, list[str]]:
    """The names of the programs to run, by family."""
    named = {
        family: [program.name for program in FAMILIES[family] if text in program.name]
        for family in families or FAMILIES
    }
    return {family: names for family, names in named.items() if names}


def _clock(settings: Settings) -> str:
    return "processor time" if settings.processor_time else "wall clock"


if __name__ == "__main__":
    main()
