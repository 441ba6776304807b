"""Times of all_reduce between hosts: irax's own messages by TCP, and MPI, on the same bed.

python -m benchmarks.links              needs root and network namespaces (tests/hosts/bed.py)
python -m benchmarks.links 1gbit 2 3 4  with cables of this rate, for these numbers of hosts
python -m benchmarks.links step 1gbit 2 3  times of a step of training, see `benchmarks.link_steps`

With a rate, a row has what `irax cost --mesh --link` expects of such cables, whose latency is
that of the smallest array.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import link_steps

SIZES = (4, 4 << 10, 64 << 10, 1 << 20, 16 << 20)
"""Bytes of the arrays."""
HOSTS = 3


def _measured(all_reduce: Callable[[Any], Any], hosts: int) -> str:
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
        assert float(result[0]) == hosts
        found.append(f"{min(seconds) * 1e6:.0f}")
    return " ".join(found)


def rank(how: str, hosts: int) -> None:
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
        everyone = tuple(range(hosts))

        def all_reduce(x: Any) -> Any:
            return current.of_process().all_reduce(x, "add", everyone)

    print("times", _measured(all_reduce, hosts), flush=True)


def expected(rate: str, hosts: int, latency: float) -> list[float]:
    """The microseconds of each size by the model of `irax cost`, for a latency in microseconds."""
    from irax_compiler.ops.collective import AllReduce
    from irax_tools.cost.mesh import Exchange, Link

    op = AllReduce("hosts", hosts, "add")
    link = Link(link_steps.bytes_per_second(rate), latency / 1e6)
    each = [Exchange("all_reduce", op.sent(size), op.rounds, 1, hosts, []) for size in SIZES]
    return [exchange.seconds(link) * 1e6 for exchange in each]


def table(rate: str, hosts: int) -> None:
    """Print the table of some number of hosts."""
    from tests.hosts.bed import Bed
    from tests.hosts.jobs import Job

    print(f"| us, {hosts} hosts {rate} |", *(f"{size} B |" for size in SIZES))
    print("|---|" + "---|" * len(SIZES))
    for how, launcher in (("tcp", "by hand"), ("mpi", "mpiexec"), ("mpi4py", "mpiexec")):
        with Bed(hosts) as bed:
            for host in bed.hosts:
                if rate:
                    host.limit_rate(rate)
            job = Job(bed, launcher, "benchmarks.links", "rank", how, str(hosts))
            job.await_line("times", 300)
            line = next(line for line in job.said(0) if line.startswith("times"))
        times = line.split()[1:]
        print(f"| {how} |", " | ".join(times), "|", flush=True)
        if rate and how == "tcp":
            found = (f"{x:.0f}" for x in expected(rate, hosts, float(times[0])))
            print("| expected |", " | ".join(found), "|", flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["rank", how, hosts]:
            rank(how, int(hosts))
        case ["step", rate, *counts]:
            link_steps.table(rate, [int(count) for count in counts or ["2"]])
        case [rate, *counts]:
            for count in map(int, counts or [HOSTS]):
                table(rate, count)
        case _:
            table("", HOSTS)
