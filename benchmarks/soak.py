"""Many calls, operations, signatures, collectives, and processes killed or at once on one cache:
memory stays bounded, and nothing wrong is read.

python -m benchmarks.soak                                   all of it: an hour
python -m benchmarks.soak --only calls eager --scale 0.01   a hundredth of two parts
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

import irax
import irax.numpy as jnp
from benchmarks import cache_writers
from benchmarks.random_collectives import in_processes, in_threads
from irax_compiler import cache

CALLS, OPERATIONS, SIGNATURES, KILLS, PROCESSES = 1_000_000, 20_000, 2_000, 200, 8
COLLECTIVES = 3_000
"""Batches of collectives: minutes."""

LIVE = 16
"""The most arrays that a part may leave behind: constants that are kept for later."""

MAY_GROW = {"calls": 8.0, "eager": 8.0, "signatures": 128.0, "threads": 16.0}
"""The most MiB by which memory may grow from the first tenth of a part to its end. A function keeps
its last 1,024 programs, of about 100 KiB each."""


def calls(count: int) -> Iterator[int]:
    """Call a jitted step on its own results."""
    step = irax.jit(lambda state, x: {"w": state["w"] * 0.99 + x, "n": state["n"] + 1})
    state, x = {"w": jnp.ones((64, 64)), "n": jnp.zeros((), int)}, jnp.ones((64, 64))
    for number in range(count):
        state = step(state, x)
        yield number
    assert int(state["n"]) == count
    np.testing.assert_allclose(state["w"][0, 0], 100 - 99 * 0.99**count, rtol=1e-3)


def eager(count: int) -> Iterator[int]:
    """Run operations outside of jit, each on arrays of another shape."""
    for number in range(count):
        rows = jnp.ones((1 + number % 200, 1 + number // 200))
        total = (jnp.sin(rows) * 0 + rows).sum()
        assert total == rows.size
        yield number


def signatures(count: int) -> Iterator[int]:
    """Call a jitted function with arrays of as many shapes."""
    double = irax.jit(lambda x: x * 2)
    for number in range(count):
        assert float(double(jnp.ones(1 + number))[number]) == 2
        yield number
    assert irax.explain(double).compiled == count


def kills(count: int) -> Iterator[int]:
    """Kill processes that write to the cache; look at all that they leave."""
    code = "from benchmarks.cache_writers import write_for_ever; write_for_ever()"
    for number in range(count):
        writer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()  # it has begun
        time.sleep(random.random() * 0.02)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        cache_writers.check()
        yield number
    folder = cache.directory()
    assert folder is not None
    left = [path for path in folder.iterdir() if path.name.startswith("unfinished-")]
    for path in left:  # as if their writers had been killed long ago
        os.utime(path, (0, 0))
    cache.prune(cache.size_limit())
    assert not any(path.exists() for path in left)
    print(f"  {len(left)} unfinished files, removed by prune", flush=True)


def processes(count: int) -> Iterator[int]:
    """Have processes compile, write, read and prune one cache at once."""
    code = "from benchmarks.soak import share; share()"
    env = {**os.environ, "IRAX_CACHE_SIZE": "2MB"}
    running = [subprocess.Popen([sys.executable, "-c", code], env=env) for _ in range(count)]
    for number, process in enumerate(running):
        assert process.wait() == 0
        yield number
    cache_writers.check()


PARTS: dict[str, tuple[Callable[[int], Iterator[int]], int]] = {
    "calls": (calls, CALLS),
    "eager": (eager, OPERATIONS),
    "signatures": (signatures, SIGNATURES),
    "kills": (kills, KILLS),
    "processes": (processes, PROCESSES),
    "threads": (in_threads, COLLECTIVES),
    "mpi": (in_processes, COLLECTIVES),
    "mpi devices": (partial(in_processes, size=2, devices=2), COLLECTIVES),
}
"""The parts of the soak, and how often each does what it does."""


def share() -> None:
    """Write, read and prune artefacts in random order, and compile a few programs."""
    cache_writers.write_and_read(200)
    for number in range(5):
        x = np.arange(4.0, dtype="float32")
        np.testing.assert_array_equal(irax.jit(lambda x, n=number: x * n)(x), x * number)


# ---- measuring -----------------------------------------------------------------------------------


def resident() -> float:
    """The memory of this process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def soak(name: str, scale: float) -> bool:
    """Run a part; print its memory. Return False if that grew too much."""
    run, count = PARTS[name]
    count = max(10, round(count * scale)) if name != "processes" else count
    gc.collect()
    start, first = time.perf_counter(), 0.0
    live = len(irax.live_arrays())
    for number in run(count):
        if number == count // 10:
            gc.collect()
            first = resident()
            print(f"{name}: {number} of {count}, {first:.1f} MiB", flush=True)
    gc.collect()
    last, took = resident(), time.perf_counter() - start
    more = len(irax.live_arrays()) - live
    grown = last - first
    is_bounded = grown <= MAY_GROW.get(name, float("inf")) and more <= LIVE
    print(
        f"{name}: {count} in {took:.0f} s, {last:.1f} MiB: {grown:+.1f} MiB since the first tenth, "
        f"{more:+d} live arrays{'' if is_bounded else ': TOO MUCH'}",
        flush=True,
    )
    return is_bounded


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--scale", type=float, default=1.0, help="do so much of each part")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IRAX_CACHE_DIR"] = folder
        bounded = [soak(name, given.scale) for name in given.only]
    sys.exit(not all(bounded))


if __name__ == "__main__":
    main()
