"""The memory by which a process grows when it calls a program, beside the plan of the compiler.

    python -m benchmarks.resident

`memory_analysis()` tells what a compiler plans. JAX's figure leaves out what its library functions
allocate, and irax's what functions on the host do. So each library calls each program in a process
of its own, where the growth of the resident memory up to its highest is measured.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import multiprocessing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.families import FAMILIES
from benchmarks.program import Numbers

LIBRARIES = ("irax", "jax")
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Case:
    """A program of a family with a larger batch, whose arrays are most of what a process takes."""

    family: str
    name: str
    times: int
    """The factor by which the first dimension of the batch is larger."""
    unchanged: int = 1
    """The number of arguments before those that have the batch, or the steps of a sequence."""


CASES = (
    Case("training", "MLP step", 8),
    Case("training", "CNN step, batch 64", 16),
    Case("training", "ResNet step 8x32x32x32", 16),
    Case("training", "transformer step 2 x 128", 8),
    Case("convolutions", "3x3 28, 128", 8, 0),
    Case("convolutions", "gradient in kernels 28, 128", 8, 0),
    Case("convolutions", "depthwise 56, 128", 4, 0),
    Case("attention", "attention gradient 4x128x8x32", 8, 0),
    Case("recurrent", "LSTM gradient 50x32x128", 8, 2),
    Case("recurrent", "GRU gradient 50x32x128", 8, 2),
)


def main() -> None:
    """The command line."""
    print(f"{'MB':40s} {'irax':>6s} {'plan':>6s} {'JAX':>6s} {'plan':>6s} {'ratio':>6s}")
    for case in CASES:
        context = multiprocessing.get_context("spawn")
        with context.Pool(1, maxtasksperchild=1) as pool:
            (ours, plan), (theirs, theirs_planned) = (
                pool.apply(measure, (library, case)) for library in LIBRARIES
            )
        sizes = " ".join(f"{x / MEGABYTE:6.0f}" for x in (ours, plan, theirs, theirs_planned))
        print(f"{case.name:40s} {sizes} {ours / theirs:6.2f}", flush=True)


def measure(library: str, case: Case) -> tuple[int, int]:
    """Return the bytes that this process grows by in calls, and those that the compiler plans."""
    lib: Any = importlib.import_module(library)
    jnp = importlib.import_module(f"{library}.numpy")
    program = next(p for p in FAMILIES[case.family] if p.name == case.name)
    generator = np.random.default_rng(0)

    def drawn(numbers: Numbers, times: int) -> Any:
        shape = (numbers.shape[0] * times, *numbers.shape[1:])
        return jnp.asarray(replace(numbers, shape=shape).draw(generator))

    arguments = [
        lib.tree_util.tree_map(
            lambda leaf, times=case.times if i >= case.unchanged else 1: drawn(leaf, times),
            argument,
            is_leaf=lambda leaf: isinstance(leaf, Numbers),
        )
        for i, argument in enumerate(program.arguments)
    ]
    compiled = lib.jit(program.make(lib, jnp)).lower(*arguments).compile()
    plan = compiled.memory_analysis()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the highest begins anew
    for _ in range(2):
        lib.block_until_ready(compiled(*arguments))
    return _status("VmHWM") - before, plan.temp_size_in_bytes + plan.output_size_in_bytes


def _status(name: str) -> int:
    """The bytes that Linux tells of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


if __name__ == "__main__":
    main()
