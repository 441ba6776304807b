"""The processor time of a training step as processes are added, each with as many rows.

    python -m benchmarks.weak_scaling

There are more processes than processors, so time tells nothing: this is the processor time of
process 0 for a step, without that of collectives. Beside it stands that of the same step on this
process alone, after it waited likewise for the others: caches are cold then, more so with more
processes. Their ratio should not depend on the number of processes, nor the bytes that collectives
sum. The first call traces, partitions and loads the program.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROWS, WIDTH, STEPS = 64, 256, 40


class Collectives:
    """The processor time and the bytes of the sums over the processes."""

    def __init__(self) -> None:
        from irax_runtime.communication.mpi import MpiCommunicator

        self.seconds, self.bytes = 0.0, 0
        collectives = self
        all_reduce = MpiCommunicator.all_reduce

        def timed(self: Any, x: Any, combiner: str, group: Any) -> Any:
            start = time.process_time()
            try:
                return all_reduce(self, x, combiner, group)
            finally:
                collectives.seconds += time.process_time() - start
                collectives.bytes += x.nbytes

        MpiCommunicator.all_reduce = timed


def measured() -> dict[str, float]:
    """The figures of this process."""
    import irax
    from irax_runtime.communication import current

    irax.distributed.initialize()
    collectives = Collectives()
    jnp, count = irax.numpy, irax.device_count()
    mesh = irax.make_mesh((count,), ("data",))

    def loss(weights: Any, x: Any) -> Any:
        for w in weights:
            x = jnp.tanh(x @ w)
        return (x * x).mean()

    @irax.jit
    def step(weights: Any, x: Any) -> Any:
        slopes = irax.grad(loss)(weights, x)
        return [w - 0.01 * s for w, s in zip(weights, slopes, strict=True)]

    rng = np.random.default_rng(0)
    whole = [0.05 * rng.normal(size=(WIDTH, WIDTH)).astype(np.float32) for _ in range(3)]
    rows = np.ones((count * ROWS, WIDTH), np.float32)
    alone = irax.make_mesh((1,), ("data",), devices=irax.local_devices())

    def arguments(mesh: Any, rows: Any) -> tuple[Any, Any]:
        weights = irax.device_put(whole, irax.NamedSharding(mesh, irax.P()))
        return weights, irax.device_put(rows, irax.NamedSharding(mesh, irax.P("data")))

    def seconds(given: tuple[Any, Any]) -> float:
        current.of_process().barrier()
        begin, collective = time.process_time(), collectives.seconds
        irax.block_until_ready(step(*given))
        return (time.process_time() - begin) - (collectives.seconds - collective)

    ways = {"step": arguments(mesh, rows), "alone": arguments(alone, rows[:ROWS])}
    first = {name: seconds(given) for name, given in ways.items()}
    collectives.bytes = 0
    times = [{name: seconds(given) for name, given in ways.items()} for _ in range(STEPS)]
    found = {name: 1e6 * float(np.median([one[name] for one in times])) for name in ways}
    return {**found, "first": first["step"], "bytes": collectives.bytes / STEPS}


def main() -> None:
    """Print a row for each number of processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--one", action="store_true", help="be one of the processes")
    options = parser.parse_args()
    if options.one:
        found = measured()
        if os.environ.get("OMPI_COMM_WORLD_RANK", "0") == "0":
            print(json.dumps(found), flush=True)
        return
    launcher = Path(sys.executable).parent / "mpiexec"
    heads = ("processes", "step us", "alone us", "ratio", "first call s", "bytes")
    print("".join(f"{head:>14}" for head in heads))
    for count in options.processes:
        command = [str(launcher), "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
        command += ["-n", str(count), sys.executable, "-m", "benchmarks.weak_scaling", "--one"]
        environment = {**os.environ, "IRAX_NUM_THREADS": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if not lines:
            raise RuntimeError(f"{count} processes failed:\n{done.stderr[-2000:]}")
        found = json.loads(lines[-1])
        ratio = found["step"] / found["alone"]
        print(
            f"{count:>14}{found['step']:>14.0f}{found['alone']:>14.0f}{ratio:>14.2f}"
            f"{found['first']:>14.2f}{found['bytes']:>14.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
