"""Random collectives on random groups of ranks, compared with NumPy.

    mpiexec -n 4 python -m benchmarks.random_collectives 100
    IRAX_CPU_DEVICES=2 mpiexec -n 2 python -m benchmarks.random_collectives 100

Each of so many batches has its line, which rank 0 writes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from irax_runtime.communication import mpi
from irax_runtime.communication.communicator import Communicator, Group
from irax_runtime.communication.ranks import ProcessRanks
from irax_runtime.communication.threads import ThreadGroup

CALLS = 40
"""The collectives of a batch."""
LIMIT = 60.0
"""Seconds that a rank waits for the others."""
DTYPES = (np.float32, np.float64, np.int32, np.uint8, np.bool_, ml_dtypes.bfloat16)
LENGTHS = (0, 1, 3, 17, 1000, 20_000)

Array = np.ndarray[Any, Any]


def batch(communicator: Communicator, seed: int) -> None:
    """Call collectives that the seed chooses, which is the same in all ranks; check the results."""
    rng = np.random.default_rng(seed)
    for number in range(CALLS):
        group = _group(rng, communicator)
        kind = CHECKS[rng.integers(len(CHECKS))]
        dtype = DTYPES[rng.integers(len(DTYPES))]
        length = LENGTHS[rng.integers(len(LENGTHS))]
        arrays = [_contribution(seed, number, rank, len(group), length, dtype) for rank in group]
        place = group.index(communicator.rank)
        sources = rng.integers(-1, len(group), communicator.size)[: len(group)].tolist()
        found, expected = kind(communicator, arrays, place, group, sources)
        np.testing.assert_array_equal(found, expected, f"{kind.__name__} of {group}, seed {seed}")


def _group(rng: np.random.Generator, communicator: Communicator) -> Group:
    """This rank's group of a random division of the ranks into groups."""
    order = rng.permutation(communicator.size)
    cuts = np.flatnonzero(rng.random(communicator.size - 1) < 0.4) + 1
    groups = [tuple(map(int, part)) for part in np.split(order, cuts)]
    return next(group for group in groups if communicator.rank in group)


def _contribution(seed: int, number: int, rank: int, parts: int, length: int, dtype: Any) -> Array:
    """The array of a rank: small integers, whose sums all dtypes have."""
    rng = np.random.default_rng((seed, number, rank))
    return rng.integers(0, 4, (parts, length)).astype(dtype)


def _total(arrays: list[Array]) -> Array:
    return np.sum([a.astype(np.float64) for a in arrays], axis=0).astype(arrays[0].dtype)


def _sum(c: Communicator, arrays: list[Array], place: int, group: Group, sources: Any) -> Any:
    return c.all_reduce(arrays[place], "add", group), _total(arrays)


def _largest(c: Communicator, arrays: list[Array], place: int, group: Group, sources: Any) -> Any:
    found = c.all_reduce(arrays[place], "maximum", group)
    return found, np.max([a.astype(np.float64) for a in arrays], axis=0).astype(found.dtype)


def _gathered(c: Communicator, arrays: list[Array], place: int, group: Group, sources: Any) -> Any:
    return c.all_gather(arrays[place], group), np.stack(arrays)


def _scattered(c: Communicator, arrays: list[Array], place: int, group: Group, sources: Any) -> Any:
    return c.reduce_scatter(arrays[place], group), _total(arrays)[place]


def _exchanged(c: Communicator, arrays: list[Array], place: int, group: Group, sources: Any) -> Any:
    return c.all_to_all(arrays[place], group), np.stack([a[place] for a in arrays])


def _permuted(c: Communicator, arrays: list[Array], place: int, group: Group, sources: Any) -> Any:
    source = sources[place]
    expected = arrays[source] if source >= 0 else np.zeros_like(arrays[place])
    return c.permute(arrays[place], sources, group), expected


def _told(c: Communicator, arrays: list[Array], place: int, group: Group, sources: Any) -> Any:
    messages = [x.tobytes()[: 7 * i] for i, x in enumerate(arrays)]
    return c.exchange(messages[place], group), messages


CHECKS = (_sum, _largest, _gathered, _scattered, _exchanged, _permuted, _told)


# ---- ranks ---------------------------------------------------------------------------------------


def in_threads(count: int, size: int = 4) -> Iterator[int]:
    """Run batches in threads of this process; yield the number of each when it is over."""
    group = ThreadGroup(size, LIMIT)
    for seed in range(count):
        group.run(lambda communicator, seed=seed: batch(communicator, seed))
        yield seed


def in_processes(count: int, size: int = 4, devices: int = 1) -> Iterator[int]:
    """Run batches in an MPI job; yield the number of each when it is over."""
    launcher = str(Path(sys.executable).parent / "mpiexec")
    options = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(size)]
    command = [
        launcher,
        *options,
        sys.executable,
        "-m",
        "benchmarks.random_collectives",
        str(count),
    ]
    env = {**os.environ, "IRAX_CPU_DEVICES": str(devices)}
    running = subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1]
    )
    assert running.stdout is not None
    yield from map(int, running.stdout)
    running.stdout.close()
    assert running.wait(LIMIT) == 0


def main() -> None:
    """Be a process of an MPI job."""
    process = mpi.start(LIMIT)
    devices = int(os.environ.get("IRAX_CPU_DEVICES", "1"))
    ranks = ProcessRanks(process, [rank for rank in range(process.size) for _ in range(devices)])
    for seed in range(int(sys.argv[1])):
        ranks.run(lambda communicator, seed=seed: batch(communicator, seed))
        if process.rank == 0:
            print(seed, flush=True)


if __name__ == "__main__":
    main()
