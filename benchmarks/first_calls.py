"""First calls of programs, beside JAX: cold, in a second process, and compiled in the background.

    IRAX_NUM_THREADS=1 taskset -c 0 python -m benchmarks.first_calls
    python -m benchmarks.first_calls --layers 2 8 32 64 --table

A call runs in a process of its own, which has imported the library and made the arguments. Times
are CPU seconds of that process and of those it starts, tracing included, the least of several runs;
in the background, those of the thread that calls. `--table` prints rows for docs/compile-times.md.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.families import training
from benchmarks.program import Numbers, Program, f32, program

PROGRAMS = {
    "add": program("add", lambda lib, jnp: lambda x, y: x + y, *[f32(1_000_000)] * 2),
    "digits step": training.named("digits step, batch 32"),
    "MLP step": training.named("MLP step"),
    "CNN step": training.named("CNN step, batch 64"),
    "transformer step": training.named("transformer step 2 x 128"),
    "GPT of 12 blocks": training.transformer_step(12, 128),
}
LAYERS = "transformer of "
"""Names of steps of transformers, up to the number of layers."""
MODES = ("cold", "warm", "background")


def first_call(library: str, name: str, mode: str) -> None:
    """Call a program once; print the seconds that it took."""
    if library == "jax":
        os.environ["JAX_COMPILATION_CACHE_DIR"] = os.environ["IRAX_CACHE_DIR"]
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
    lib = importlib.import_module(library)
    jnp = importlib.import_module(f"{library}.numpy")
    chosen = _program(name)
    generator = np.random.default_rng(0)
    function = chosen.make(lib, jnp)
    arguments = [_drawn(x, generator) for x in chosen.arguments]
    clock = time.thread_time if mode == "background" else _all_processes
    before = clock()
    options = {"compile": "background"} if mode == "background" else {}
    lib.block_until_ready(lib.jit(function, **options)(*arguments))
    print(clock() - before, flush=True)


def _program(name: str) -> Program:
    if name.startswith(LAYERS):
        return training.transformer_step(int(name.removeprefix(LAYERS)), 128)
    return PROGRAMS[name]


def _drawn(tree: Any, generator: np.random.Generator) -> Any:
    if isinstance(tree, Numbers):
        return tree.draw(generator)
    if isinstance(tree, dict):
        return {key: _drawn(value, generator) for key, value in tree.items()}
    return [_drawn(x, generator) for x in tree]


def _all_processes() -> float:
    """The CPU seconds of this process and of those it started that have ended."""
    times = os.times()
    return sum(times[:4])


def seconds(library: str, name: str, mode: str, runs: int) -> float:
    """Return the least that a first call took, in processes of their own."""
    code = f"from benchmarks.first_calls import first_call; first_call{(library, name, mode)}"
    found: list[float] = []
    with tempfile.TemporaryDirectory() as warm:
        for _ in range(runs + (mode == "warm")):
            with tempfile.TemporaryDirectory() as fresh:
                folder = warm if mode == "warm" else fresh
                kept = {"IRAX_CACHE_DIR": folder, "PYTHONDONTWRITEBYTECODE": ""}
                printed = subprocess.run(
                    [sys.executable, "-c", code],
                    env={**os.environ, **kept},
                    stdout=subprocess.PIPE,
                    text=True,
                    check=True,
                ).stdout
            found.append(float(printed.split()[-1]))
    return min(found[1:] if mode == "warm" else found)


def row(name: str, runs: int, modes: Sequence[str]) -> list[str]:
    """Return the cells of a program: its name, then irax's and JAX's time of each mode."""
    cells = [name]
    for mode in modes:
        cells.append(f"{seconds('irax', name, mode, runs):.3f}")
        if mode != "background":
            has_jax = importlib.util.find_spec("jax")
            cells.append(f"{seconds('jax', name, mode, runs):.3f}" if has_jax else "")
    return cells


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(PROGRAMS), default=list(PROGRAMS))
    parser.add_argument("--layers", type=int, nargs="*", default=[], help="transformers of these")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--runs", type=int, default=2, help="processes of each (default: 2)")
    parser.add_argument("--table", action="store_true", help="print a table of Markdown")
    given = parser.parse_args()
    heads = ["program"]
    for mode in given.modes:
        heads += [mode] if mode == "background" else [mode, f"JAX, {mode}"]
    print(_line(heads, given.table))
    if given.table:
        print("|---" * len(heads) + "|")
    for name in (*given.only, *(f"{LAYERS}{count}" for count in given.layers)):
        print(_line(row(name, given.runs, given.modes), given.table), flush=True)


def _line(cells: Sequence[str], is_table: bool) -> str:
    if is_table:
        return f"| {' | '.join(cells)} |"
    return f"{cells[0]:24}" + "".join(f"{cell:>12}" for cell in cells[1:])


if __name__ == "__main__":
    main()
