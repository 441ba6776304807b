"""Tells which legalizations are still needed, with the compilers that are installed.

python -m tests.upstream.run                    all of them
python -m tests.upstream.run stable_sort ...    some
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from tests.upstream.reproduction import Reproduction, outcome
from tests.upstream.table import legalizations

COLUMNS = "{:34}{:9}{:12}{}"


@cache
def outcomes(name: str) -> Mapping[str, str]:
    """Return the outcome of a reproduction's program on each of its targets."""
    reproduction = Reproduction.read(name)
    return {target: outcome(reproduction, target) for target in reproduction.targets}


def verdict(found: Iterable[str]) -> str:
    """Return the verdict on legalizations from the outcomes of a reproduction."""
    found = list(found)
    if any(o != "right" and not o.startswith("untried") for o in found):
        return "needed"
    if any(o.startswith("untried") for o in found):
        return "untried"
    return "not needed"


def lines(names: Iterable[str]) -> Iterator[str]:
    """The table, line by line as it comes; then how many there are of each verdict."""
    yield COLUMNS.format("legalization", "kind", "", "what its reproduction does")
    verdicts: dict[str, list[str]] = {}
    for name in names:
        one, _ = legalizations()[name]
        found = {"not tried": one.fatal} if one.fatal else outcomes(one.reproduction)
        said = "fatal" if one.fatal else verdict(found.values())
        verdicts.setdefault(said, []).append(name)
        shown = ", ".join(f"{target}: {o}" for target, o in found.items())
        yield COLUMNS.format(name, one.kind, said, shown)
    yield ""
    for said, those in verdicts.items():
        yield f"{said}: {len(those)}"
    if "not needed" in verdicts:
        yield f"\nNo longer needed: {', '.join(verdicts['not needed'])}."


def main() -> None:
    """The command line."""
    chosen = sys.argv[1:] or list(legalizations())
    unknown = set(chosen) - set(legalizations())
    if unknown:
        sys.exit(f"there are no legalizations called {', '.join(sorted(unknown))}")
    for line in lines(chosen):
        print(line, flush=True)


if __name__ == "__main__":
    main()
