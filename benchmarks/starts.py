"""The start of a process whose programs another one compiled, beside JAX with its cache on disk.

IRAX_NUM_THREADS=1 taskset -c 0 python -m benchmarks.starts

Each library runs the first step of the examples in a process of its own, several times with one
folder for its cache. The first time is cold.
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
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMES = ("digits", "conv_net", "gpt", "vae")


def first_step(library: str, name: str) -> None:
    """Run the first step of an example; print the seconds of the processor that it took to import
    the library, to prepare arguments, and to call the step.
    """
    if library == "jax":
        _set_up_jax()
    before = time.process_time()
    lib: Any = importlib.import_module(library)
    importlib.import_module(f"{library}.numpy")
    imported = time.process_time()
    if library == "jax":
        sys.modules["irax"], sys.modules["irax.numpy"] = lib, lib.numpy
    sys.path.insert(0, str(EXAMPLES))
    step, arguments = importlib.import_module(name).step_and_arguments()
    prepared = time.process_time()
    lib.block_until_ready(step(*arguments))
    print(imported - before, prepared - imported, time.process_time() - prepared)


def _set_up_jax() -> None:
    os.environ["JAX_COMPILATION_CACHE_DIR"] = os.environ["IRAX_CACHE_DIR"]
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    os.environ.setdefault("JAX_PLATFORMS", "cpu")


def _environment(folder: str) -> dict[str, str]:
    """Programs are kept in the folder, and Python's bytecode too."""
    kept = {"IRAX_CACHE_DIR": folder, "PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
    return {**os.environ, **kept}


def seconds(library: str, name: str, folder: str) -> list[float]:
    """Return what a process took in all, and what `first_step` prints."""
    code = f"from benchmarks.starts import first_step; first_step({library!r}, {name!r})"
    before = os.times()
    printed = subprocess.run(
        [sys.executable, "-c", code],
        env=_environment(folder),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    after = os.times()
    whole = after.children_user + after.children_system
    whole -= before.children_user + before.children_system
    return [whole, *map(float, printed.split())]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--runs", type=int, default=4, help="processes of each, the cold one too")
    given = parser.parse_args()
    libraries = ("irax", "jax") if importlib.util.find_spec("jax") else ("irax",)
    print(f"{'step':12}{'library':>8}{'cold':>8}{'warm':>8}{'import':>8}{'prepare':>9}{'call':>8}")
    for name in given.only:
        for library in libraries:
            with tempfile.TemporaryDirectory() as folder:
                cold, *warm = (seconds(library, name, folder) for _ in range(given.runs))
            whole, imported, prepared, called = (min(times) for times in zip(*warm, strict=True))
            figures = f"{cold[0]:8.2f}{whole:8.2f}{imported:8.2f}{prepared:9.2f}{called:8.2f}"
            print(f"{name:12}{library:>8}{figures}", flush=True)


if __name__ == "__main__":
    main()
