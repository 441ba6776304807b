"""First calls of programs, beside JAX: cold, in a second process, and compiled in the background.

    IRAX_NUM_THREADS=1 taskset -c 0 python -m benchmarks.first_calls
    python -m benchmarks.first_calls --layers 2 8 32 64 --table
    python -m benchmarks.first_calls --edits 6

A call runs in a process of its own, which has imported the library and made the arguments. Times
are CPU seconds of that process and of those it starts, tracing included, the least of several runs;
in the background, those of the thread that calls. `--table` prints rows for docs/compile-times.md.
`--edits` has steps of transformers of so many layers, and of edited ones in processes that have the
cache of the first.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import shutil
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
EDITS: dict[str, dict[str, Any]] = {
    "another rate": {"rate": 0.07},
    "weight decay": {"decay": 0.01},
    "one layer more": {"more": 1},
}
"""Edits of such steps: what differs."""
EDITED = " edited: "
"""The text between the name of a step and that of an edit."""
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
    arguments = [drawn(x, generator) for x in chosen.arguments]
    clock = time.thread_time if mode == "background" else _all_processes
    before = clock()
    options = {"compile": "background"} if mode == "background" else {}
    lib.block_until_ready(lib.jit(function, **options)(*arguments))
    print(clock() - before, flush=True)


def _program(name: str) -> Program:
    if name.startswith(LAYERS):
        layers, _, edit = name.removeprefix(LAYERS).partition(EDITED)
        given = dict(EDITS.get(edit, {}))
        return training.transformer_step(int(layers) + given.pop("more", 0), 128, **given)
    return PROGRAMS[name]


def drawn(tree: Any, generator: np.random.Generator) -> Any:
    """Return a pytree of arrays for one of numbers."""
    if isinstance(tree, Numbers):
        return tree.draw(generator)
    if isinstance(tree, dict):
        return {key: drawn(value, generator) for key, value in tree.items()}
    return [drawn(x, generator) for x in tree]


def _all_processes() -> float:
    """The CPU seconds of this process and of those it started that have ended."""
    times = os.times()
    return sum(times[:4])


def seconds(library: str, name: str, mode: str, runs: int) -> float:
    """Return the least that a first call took, in processes of their own."""
    found: list[float] = []
    with tempfile.TemporaryDirectory() as warm:
        for _ in range(runs + (mode == "warm")):
            with tempfile.TemporaryDirectory() as fresh:
                folder = warm if mode == "warm" else fresh
                found.append(_in_a_process(library, name, mode, folder))
    return min(found[1:] if mode == "warm" else found)


def _in_a_process(library: str, name: str, mode: str, folder: str) -> float:
    """Return what a first call takes in a new process, with the cache in a folder."""
    code = f"from benchmarks.first_calls import first_call; first_call{(library, name, mode)}"
    kept = {"IRAX_CACHE_DIR": folder, "PYTHONDONTWRITEBYTECODE": ""}
    printed = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **kept},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    return float(printed.split()[-1])


def edited(library: str, layers: int, runs: int) -> dict[str, float]:
    """Return the least that first calls took of a step, and of each edit of it in a process that
    has the cache of the step alone.
    """
    name = f"{LAYERS}{layers}"
    least: dict[str, float] = {}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            first = f"{folder}/first"
            taken = {"cold": _in_a_process(library, name, "cold", first)}
            for edit in EDITS:
                copy = shutil.copytree(first, f"{folder}/{edit}")
                taken[edit] = _in_a_process(library, f"{name}{EDITED}{edit}", "cold", copy)
        least = {edit: min(x, least.get(edit, x)) for edit, x in taken.items()}
    return least


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
    parser.add_argument("--edits", type=int, nargs="*", help="edits of transformers of these")
    given = parser.parse_args()
    if given.edits is not None:
        _print_edits(given.edits, given.runs, given.table)
        return
    heads = ["program"]
    for mode in given.modes:
        heads += [mode] if mode == "background" else [mode, f"JAX, {mode}"]
    print(_line(heads, given.table))
    if given.table:
        print("|---" * len(heads) + "|")
    for name in (*given.only, *(f"{LAYERS}{count}" for count in given.layers)):
        print(_line(row(name, given.runs, given.modes), given.table), flush=True)


def _print_edits(layers: Sequence[int], runs: int, is_table: bool) -> None:
    heads = ["transformer", "cold", *EDITS]
    print(_line(heads, is_table))
    if is_table:
        print("|---" * len(heads) + "|")
    libraries = ("irax", "jax") if importlib.util.find_spec("jax") else ("irax",)
    for count in layers:
        for library in libraries:
            taken = (f"{x:.3f}" for x in edited(library, count, runs).values())
            print(_line([f"of {count}, {library}", *taken], is_table), flush=True)


def _line(cells: Sequence[str], is_table: bool) -> str:
    if is_table:
        return f"| {' | '.join(cells)} |"
    return f"{cells[0]:24}" + "".join(f"{cell:>16}" for cell in cells[1:])


if __name__ == "__main__":
    main()
