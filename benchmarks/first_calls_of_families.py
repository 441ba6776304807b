"""First calls of many programs beside JAX, in processes that have compiled others.

    IRAX_NUM_THREADS=1 taskset -c 0 python -m benchmarks.first_calls_of_families
    python -m benchmarks.first_calls_of_families elementwise reductions --each

A process of each library calls the programs of a family once, in order, and then another process
does: what they have in common is compiled, or imported, for the first. Times are CPU seconds of the
process and of those it starts, tracing and the call included. The cache of each process is empty
when it begins.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import resource
import subprocess
import sys
import tempfile

import numpy as np

from benchmarks.families import FAMILIES
from benchmarks.first_calls import drawn


def first_calls(library: str, family: str) -> None:
    """Call the programs of a family once each; print the seconds that they took, by their names."""
    if library == "jax":
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
    lib = importlib.import_module(library)
    jnp = importlib.import_module(f"{library}.numpy")
    generator = np.random.default_rng(0)
    taken: dict[str, float] = {}
    for program in FAMILIES[family]:
        lib.config.update("jax_enable_x64" if library == "jax" else "enable_x64", program.x64)
        arguments = [drawn(x, generator) for x in program.arguments]
        function = program.make(lib, jnp)
        before = _cpu_seconds()
        lib.block_until_ready(lib.jit(function)(*arguments))
        taken[program.name] = _cpu_seconds() - before
    print(json.dumps(taken), flush=True)


def _cpu_seconds() -> float:
    """The CPU seconds of this process and of those it started that have ended."""
    used = [resource.getrusage(x) for x in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(x.ru_utime + x.ru_stime for x in used)


def seconds(library: str, family: str) -> dict[str, float]:
    """Return what the first calls of a family's programs took, in a process of their own."""
    code = "from benchmarks.first_calls_of_families import first_calls; "
    code += f"first_calls{(library, family)}"
    with tempfile.TemporaryDirectory() as folder:
        printed = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "IRAX_CACHE_DIR": folder, "PYTHONDONTWRITEBYTECODE": ""},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
    return json.loads(printed.splitlines()[-1])


def mean(ratios: list[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", help="(default: all)")
    parser.add_argument("--runs", type=int, default=1, help="processes of each; the least counts")
    parser.add_argument("--each", action="store_true", help="print a line for each program")
    given = parser.parse_args()
    unknown = [x for x in given.families if x not in FAMILIES]
    if unknown:
        parser.error(f"no family {', '.join(unknown)}; there are {', '.join(FAMILIES)}")
    ratios: list[float] = []
    print(f"{'family':24}{'programs':>10}{'irax':>10}{'JAX':>10}{'ratio':>10}")
    for family in given.families or FAMILIES:
        least: dict[str, dict[str, float]] = {"irax": {}, "jax": {}}
        for _ in range(given.runs):
            for library, found in least.items():
                for name, x in seconds(library, family).items():
                    found[name] = min(x, found.get(name, x))
        own, other = least["irax"], least["jax"]
        here = {name: own[name] / other[name] for name in own}
        ratios += here.values()
        if given.each:
            for name, ratio in here.items():
                print(f"  {name:32}{own[name]:10.3f}{other[name]:10.3f}{ratio:10.2f}")
        totals = f"{sum(own.values()):10.2f}{sum(other.values()):10.2f}"
        print(f"{family:24}{len(own):10}{totals}{mean([*here.values()]):10.2f}", flush=True)
    print(f"{'all':24}{len(ratios):10}{'':20}{mean(ratios):10.2f}")


if __name__ == "__main__":
    main()
