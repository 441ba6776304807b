"""Runs the cases on a backend, and writes what it found to build/conformance (`make conformance`).

python -m tests.conformance.run evaluator
python -m tests.conformance.run xla --python build/conformance/jax/bin/python --every 2
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from tests.conformance import ours, peers
from tests.conformance.cases import Case, counted
from tests.conformance.generate import cases

from irax_runtime.devices import devices
from irax_runtime.platforms import NoDevice

FOLDER = Path(__file__).parents[2] / "build" / "conformance"
OURS = {"evaluator": ours.evaluated, "cpu": ours.compiled, "vulkan": ours.by_vulkan}
OUTSIDE = {
    **dict.fromkeys(("xla", "interpreter"), "jaxlib"),
    **dict.fromkeys(("llvm-cpu", "vmvx", "vulkan-spirv"), "iree-base-compiler"),
}
"""The compilers that run in processes of their own, and the packages that have them."""
SEED, COUNT = 0, 30


def summary(made: Iterable[Case], found: Iterable[Any]) -> dict[str, Any]:
    """Counts by op, and the dtypes or attributes of what deviates."""
    table: dict[str, Any] = {}
    for case, results in zip(made, found, strict=True):
        row = table.setdefault(
            case.op, {"all": 0, "wrong": 0, "subnormal": 0, "free": 0, "refused": 0, "ended": 0}
        )
        row["all"] += case.count
        if results in (peers.ENDED, peers.HUNG):
            row["ended"] += case.count
            row.setdefault("ended in", []).append(case.note)
        elif isinstance(results, str | Exception):
            row["refused"] += case.count
            row.setdefault("refused in", []).append(case.note)
        else:
            count = counted(case, results)
            row["wrong"] += count.wrong
            row["subnormal"] += count.subnormal
            row["free"] += count.free
            if count.wrong:
                row.setdefault("wrong in", []).append(case.note)
    return table


def chosen(every: int) -> list[Case]:
    """Cases of each op and first dtype, or each of so many of these."""
    first: dict[tuple[str, str], Case] = {}
    made = list(cases(SEED, COUNT))
    if every == 0:
        return made
    for case in made:
        first.setdefault((case.op, " ".join(case.note.split()[:3])), case)
    return list(first.values())[::every]


def versions(package: str, python: str) -> str:
    """The version of a package in an environment."""
    if python == sys.executable:
        return metadata.version(package)
    import subprocess

    line = f"from importlib import metadata; print(metadata.version({package!r}))"
    return subprocess.run([python, "-c", line], capture_output=True, text=True).stdout.strip()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one backend."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backend", choices=[*OURS, *OUTSIDE])
    parser.add_argument("--python", default=sys.executable, help="of an environment that has it")
    parser.add_argument("--every", type=int, default=1, help="each of so many; 0: all")
    given = parser.parse_args(arguments)
    if "vulkan" in given.backend and (why := _without_vulkan()):
        print(f"{given.backend} is left out: {why}")
        return
    every = 0 if given.backend == "evaluator" else given.every
    made = chosen(every)
    found: Iterator[Any] | list[Any]
    if given.backend in OURS:
        found, version = OURS[given.backend](made), metadata.version("irax")
    else:
        found = peers.found_by(given.python, given.backend, made)
        version = versions(OUTSIDE[given.backend], given.python)
    write(given.backend, version, every, summary(made, found))


def _without_vulkan() -> str:
    try:
        devices("vulkan")
    except NoDevice as error:
        return str(error)
    return ""


def write(backend: str, version: str, every: int, table: dict[str, Any]) -> None:
    """Write a backend's table."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"version": version, "every": every, "ops": table}, indent=1)
    (FOLDER / f"{backend}.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
