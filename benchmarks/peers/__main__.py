"""Races irax with PyTorch, OpenVINO, Numba and JAX, and writes docs/reports/peers.md.

make peers
make peers PEERS_ARGS="--only cumulative --without torch.compile"
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.peers import report
from benchmarks.peers.families import FAMILIES
from benchmarks.peers.libraries import LIBRARIES
from benchmarks.peers.race import Row, Settings, race_all, rates
from benchmarks.results import this_machine

PACKAGES = ("torch", "openvino", "numba")


def main() -> None:
    """The command line."""
    parser = _parser()
    options = parser.parse_args()
    names = [
        race.name
        for family in options.family or FAMILIES
        for race in FAMILIES[family]
        if any(text in race.name for text in options.only)
    ]
    if not names:
        parser.error(f"--only: no program has {' or '.join(options.only)!r} in its name")
    libraries = tuple(name for name in LIBRARIES if name not in options.without)
    settings = Settings(
        *(
            libraries,
            options.threads,
            options.turn,
            options.rounds,
            options.processor_time,
            options.limit,
        )
    )
    rows: list[Row] = []
    measured = rates(settings)
    for row in race_all(names, settings, measured):
        rows.append(row)
        print(report.line(row), flush=True)
    about = _about(libraries, options)
    if options.output is not None:
        results = {"rows": [asdict(row) for row in rows], "rates": asdict(measured), "about": about}
        options.output.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    if options.page is not None:
        options.page.write_text(report.page(rows, measured, about), "utf-8")


def _about(libraries: tuple[str, ...], options: argparse.Namespace) -> dict[str, Any]:
    times = "processor time, medians of calls" if options.processor_time else "medians of calls"
    given = {"threads": options.threads, "note": options.note, "times": times}
    about = this_machine(libraries=list(libraries), **given)
    about["versions"] |= {package: metadata.version(package) for package in PACKAGES}
    return about


def _parser() -> argparse.ArgumentParser:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    add = parser.add_argument
    add("--family", nargs="+", choices=FAMILIES, help="run these families (default: all)")
    add("--only", nargs="+", default=[""], metavar="TEXT", help="... what has one in its name")
    add("--without", nargs="+", default=[], choices=LIBRARIES[1:], help="leave libraries out")
    add("--threads", type=int, default=Settings.threads, help="threads of each (default: 2)")
    add("--turn", type=float, default=Settings.turn, help="seconds of a turn (default: 0.1)")
    add("--rounds", type=int, default=Settings.rounds, help="turns of each (default: 5)")
    add("--processor-time", action="store_true", help="measure that: on a busy machine")
    add("--limit", type=float, default=Settings.limit, help="seconds that a first call may take")
    add("--output", type=Path, metavar="FILE", help="write the results as JSON")
    add("--page", type=Path, metavar="FILE", help="write the page")
    add("--note", default="", metavar="TEXT", help="say this of the machine on the page")
    return parser


if __name__ == "__main__":
    main()
