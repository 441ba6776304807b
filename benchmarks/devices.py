"""Programs on several devices of one machine, beside JAX.

    python -m benchmarks.devices

Training steps of a network with two hidden layers and of a layer of a transformer, their rows
divided among 1, 2 and 4 devices: on one buffer, in threads, in MPI processes, by XLA's plugin, and
by JAX. Sums over the devices of arrays of three sizes: the same ways, and by mpi4py itself, into
one array, and into a new one for each call, as irax's and JAX's are.
Microseconds, the least of several runs; each way runs in processes of its own, and they take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import rival

SIZES = {"4 B": 1, "1 MB": 250_000, "16 MB": 4_000_000}
CALLS = 40
HEADS = 4


def least(call: Callable[[], Any]) -> float:
    """The least time of a call, in microseconds, of as many calls in all processes."""
    best = float("inf")
    for _ in range(CALLS):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best * 1e6


# ---- what a process measures ---------------------------------------------------------------------


def of_library(library: Any) -> dict[str, float]:
    """The steps and the sums by irax or by JAX, on the devices that there are."""
    jnp = library.numpy
    count = library.device_count()
    mesh = library.make_mesh((count,), ("data",))
    spec, whole = library.P("data"), library.P()

    def put(x: Any, spec: Any) -> Any:
        return library.device_put(x, library.NamedSharding(mesh, spec))

    def loss(weights: Any, x: Any, y: Any) -> Any:
        for w in weights[:-1]:
            x = jnp.tanh(x @ w)
        return jnp.mean((x @ weights[-1] - y) ** 2)

    def layer(weights: Any, x: Any, y: Any) -> Any:
        mixed, joined, wide, narrow = weights
        rows, length, width = x.shape
        heads = (x @ mixed).reshape(rows, length, 3, HEADS, width // HEADS)
        q, k, v = (heads[:, :, i].swapaxes(1, 2) for i in range(3))
        share = library.nn.softmax(q @ k.swapaxes(2, 3) / (width // HEADS) ** 0.5)
        x = x + (share @ v).swapaxes(1, 2).reshape(x.shape) @ joined
        return jnp.mean((x + library.nn.gelu(x @ wide) @ narrow - y) ** 2)

    def step_of(loss: Any) -> Any:
        def step(weights: Any, x: Any, y: Any) -> Any:
            slopes = library.grad(loss)(weights, x, y)
            return library.tree.map(lambda w, s: w - 0.01 * s, weights, slopes)

        return library.jit(step)

    def measured_step(loss: Any, shapes: Any, given: Any, wanted: Any) -> float:
        weights = [put(0.05 * rng.normal(size=s).astype(np.float32), whole) for s in shapes]
        x, y = (put(rng.normal(size=s).astype(np.float32), spec) for s in (given, wanted))
        step = step_of(loss)
        return least(lambda: library.block_until_ready(step(weights, x, y)))

    rng = np.random.default_rng(0)
    width, text = 128, (16, 64, 128)
    of_layer = ((width, 3 * width), (width, width), (width, 4 * width), (4 * width, width))
    found = {
        "MLP": measured_step(loss, ((784, 512), (512, 512), (512, 10)), (512, 784), (512, 10)),
        "layer": measured_step(layer, of_layer, text, text),
    }
    for name, size in SIZES.items():
        total = library.jit(
            library.shard_map(
                lambda v: library.lax.psum(v, "data"), mesh=mesh, in_specs=spec, out_specs=whole
            )
        )
        v = put(np.ones((count, size), np.float32), spec)
        found[name] = least(lambda total=total, v=v: library.block_until_ready(total(v)))
    return found


def of_mpi(into_new: bool) -> dict[str, float]:
    """The sums by mpi4py itself, into one array, or as those of a function that returns it."""
    from mpi4py import MPI

    def summed(x: np.ndarray[Any, Any], total: np.ndarray[Any, Any]) -> None:
        MPI.COMM_WORLD.Allreduce(x, np.empty_like(x) if into_new else total)

    found = {}
    for name, size in SIZES.items():
        x, total = np.ones(size, np.float32), np.empty(size, np.float32)
        found[name] = least(lambda x=x, total=total: summed(x, total))
    return found


def measured(way: str) -> dict[str, float] | None:
    """The figures of a way of running; None in all processes but the first."""
    if way in MPI4PY:
        from mpi4py import MPI

        found = of_mpi(way == "mpi4py new")
        return found if MPI.COMM_WORLD.Get_rank() == 0 else None
    if way == "jax":
        jax: Any = rival()
        jax.NamedSharding, jax.P = jax.sharding.NamedSharding, jax.sharding.PartitionSpec
        return of_library(jax)
    import irax

    irax.distributed.initialize()
    found = of_library(irax)
    return found if irax.process_index() == 0 else None


# ---- the table -----------------------------------------------------------------------------------

MPI4PY = ("mpi4py", "mpi4py new")
WAYS: dict[str, dict[str, str]] = {
    "one buffer": {},
    "threads": {"IRAX_SPMD": "threads"},
    "mpi": {},
    "xla": {"IRAX_PLATFORMS": "pjrt:cpu"},
    "mpi4py": {},
    "mpi4py new": {},
    "jax": {},
}


def run(way: str, count: int) -> dict[str, float]:
    """The figures of a way of running on a number of devices."""
    command = [sys.executable, "-m", "benchmarks.devices", way]
    environment = {**os.environ, **WAYS[way]}
    if way in ("mpi", *MPI4PY):
        launcher = str(Path(sys.executable).parent / "mpiexec")
        options = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
        command = [launcher, *options, "-n", str(count), *command]
    else:
        environment["IRAX_CPU_DEVICES"] = str(count)
        environment["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={count}"
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        raise RuntimeError(f"{way} on {count} devices failed:\n{done.stderr[-2000:]}")
    return json.loads(lines[-1])


def main() -> None:
    """Print a table of all ways and numbers of devices."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("way", nargs="?", choices=WAYS, help="measure one way, in this process")
    parser.add_argument("--devices", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.way:
        own = measured(options.way)
        if own is not None:
            print(json.dumps(own), flush=True)
        return
    rows = ("MLP", "layer", *SIZES)
    print(f"{'devices':8}{'':8}" + "".join(f"{way:>12}" for way in WAYS))
    for count in options.devices:
        best: dict[str, dict[str, float]] = {way: {} for way in WAYS}
        for _ in range(options.rounds):
            for way, figures in best.items():
                for name, value in run(way, count).items():
                    figures[name] = min(value, figures.get(name, value))
        for row in rows:
            cells = (f"{best[way][row]:12.0f}" if row in best[way] else " " * 12 for way in WAYS)
            print(f"{count:<8}{row:8}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
