"""Times of all_reduce between hosts: irax's own messages by TCP, and MPI, on the same bed.

python -m benchmarks.links        needs root and network namespaces (tests/hosts/bed.py)
python -m benchmarks.links 1gbit  with cables of this rate
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

SIZES = (4, 4 << 10, 64 << 10, 1 << 20, 16 << 20)
"""Bytes of the arrays."""
HOSTS = 3


def _measured(all_reduce: Callable[[Any], Any]) -> str:
    """The least microseconds of each size, of many calls."""
    found = []
    for size in SIZES:
        x = np.ones(size // 4, np.float32)
        count = max(10, min(300, (32 << 20) // size))
        seconds, result = [], x
        for _ in range(count):
            start = time.perf_counter()
            result = all_reduce(x)
            seconds.append(time.perf_counter() - start)
        assert float(result[0]) == HOSTS
        found.append(f"{min(seconds) * 1e6:.0f}")
    return " ".join(found)


def rank(how: str) -> None:
    """Measure in a process of a job."""
    if how == "mpi4py":
        from mpi4py import MPI

        world = MPI.COMM_WORLD

        def all_reduce(x: Any) -> Any:
            result = np.empty_like(x)
            world.Allreduce(x, result)
            return result

    else:
        from irax_runtime import distributed
        from irax_runtime.communication import current, places

        distributed.start(60.0, place=places.find() if how == "tcp" else None)
        everyone = tuple(range(HOSTS))

        def all_reduce(x: Any) -> Any:
            return current.of_process().all_reduce(x, "add", everyone)

    print("times", _measured(all_reduce), flush=True)


def main(rate: str = "") -> None:
    """Print a table."""
    from tests.hosts.bed import Bed
    from tests.hosts.jobs import Job

    print(f"| us, {HOSTS} hosts {rate} |", *(f"{size} B |" for size in SIZES))
    print("|---|" + "---|" * len(SIZES))
    for how, launcher in (("tcp", "by hand"), ("mpi", "mpiexec"), ("mpi4py", "mpiexec")):
        with Bed(HOSTS) as bed:
            for host in bed.hosts:
                if rate:
                    host.limit_rate(rate)
            job = Job(bed, launcher, "benchmarks.links", "rank", how)
            job.await_line("times", 300)
            line = next(line for line in job.said(0) if line.startswith("times"))
            print(f"| {how} |", " | ".join(line.split()[1:]), "|", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["rank"]:
        rank(sys.argv[2])
    else:
        main(*sys.argv[1:])
