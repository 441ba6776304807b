"""Times of a step of training on hosts whose links take about as long as they compute.

python -m benchmarks.links step 1gbit 2 3

The bed has a process on each host, all on this machine's cores. The step is that of a perceptron
of `LAYERS` layers, of which each host has a part of the batch; the gradients are summed over the
hosts. A row has milliseconds, the median of `STEPS` steps of the slowest rank:

- computes: the step on each host for itself, all at a time;
- link: the bytes that a host sends, by the rate of its link;
- in turn, at once: the step with sums that the program waits for, and with sums that take place
  while it computes, but for jobs of MPI, which do them when they begin; each also as a multiple of
  the larger of the first two.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np

LAYERS, WIDTH, ROWS = 8, 512, 384
"""The layers, their width, and the rows of the batch on a host."""
STEPS = 15
_RATES = {"mbit": 1e6 / 8, "gbit": 1e9 / 8}
"""The units of rates, in bytes a second."""
LAUNCHERS = {"tcp": "by hand", "mpi": "mpiexec"}


def bytes_per_second(rate: str) -> float:
    """Return a rate such as `100mbit` in bytes a second."""
    return float(rate[:-4]) * _RATES[rate[-4:]]


def _step() -> Callable[..., Any]:
    import irax
    import irax.numpy as jnp

    def loss(weights: Any, x: Any, y: Any) -> Any:
        for w, b in weights:
            x = jnp.tanh(x @ w + b)
        return jnp.mean((x - y) ** 2)

    @irax.jit
    def step(weights: Any, x: Any, y: Any) -> Any:
        value, slopes = irax.value_and_grad(loss)(weights, x, y)
        return irax.tree.map(lambda w, s: w - 0.1 * s, weights, slopes), value

    return step


def _milliseconds(step: Callable[..., Any], given: tuple[Any, Any, Any], meet: Any) -> float:
    """Return the median time of a step, which all ranks begin together."""
    weights, x, y = given
    seconds = []
    for _ in range(STEPS + 2):
        meet()
        start = time.perf_counter()
        weights, value = step(weights, x, y)
        float(value)
        np.asarray(weights[0][0])
        seconds.append(time.perf_counter() - start)
    return 1e3 * median(seconds[2:])


def rank(way: str) -> None:
    """Measure in a process of a job."""
    os.environ["IRAX_CACHE_DIR"] = tempfile.mkdtemp()
    import irax
    from irax import NamedSharding, P
    from irax_compiler.passes.mesh.overlap_collectives import OverlapCollectives
    from irax_runtime.communication import current

    if way == "in turn":
        OverlapCollectives.run = lambda self, module: False
    irax.distributed.initialize(limit=300)
    rng = np.random.default_rng(0)
    shapes = [(WIDTH, WIDTH), (WIDTH,)]
    weights = [tuple(rng.normal(0, 0.04, s).astype("float32") for s in shapes)] * LAYERS
    count = irax.device_count()
    x, y = (rng.standard_normal((ROWS * count, WIDTH), "float32") for _ in range(2))
    given: Any = weights, x[:ROWS], y[:ROWS]
    if way != "computes":
        mesh = irax.make_mesh((count,), ("data",))
        whole, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
        given = irax.device_put(weights, whole), *irax.device_put((x, y), rows)
    print("times", _milliseconds(_step(), given, current.of_process().barrier), flush=True)
    current.of_process().barrier()


def _measured(way: str, launcher: str, rate: str, hosts: int) -> float:
    from tests.hosts.bed import Bed
    from tests.hosts.jobs import Job

    with Bed(hosts) as bed:
        for host in bed.hosts:
            host.limit_rate(rate)
        job = Job(bed, launcher, "benchmarks.link_steps", way)
        job.await_line("times", 600)
        found = [line for i in range(hosts) for line in job.said(i) if line.startswith("times")]
    return max(float(line.split()[1]) for line in found)


def table(rate: str, counts: Sequence[int]) -> None:
    """Print the table for some numbers of hosts."""
    print(f"| ms, {rate} | computes | link | in turn | at once |")
    print("|---|---|---|---|---|")
    weights = 4 * LAYERS * WIDTH * (WIDTH + 1)
    for hosts in counts:
        sent = 2 * (hosts - 1) / hosts * weights
        link = 1e3 * sent / bytes_per_second(rate)
        for name, launcher in LAUNCHERS.items():
            computes, *both = (
                _measured(way, launcher, rate, hosts) for way in ("computes", "in turn", "at once")
            )
            least = max(computes, link)
            cells = [f"{ms:.0f} ({ms / least:.2f})" for ms in both]
            print(f"| {name}, {hosts} hosts | {computes:.0f} | {link:.0f} |", end=" ")
            print(" | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    rank(sys.argv[1])
