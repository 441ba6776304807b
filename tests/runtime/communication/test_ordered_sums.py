"""Sums over the devices of a mesh have one order, whichever processes the devices are of.

python -m tests.runtime.communication.test_ordered_sums

is the program of each process of a job: it prints a digest of sums over twelve devices.
"""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from tests.runtime.communication.test_communication import ROOT, launcher

import irax
import irax.numpy as jnp
from irax import NamedSharding, P
from irax_runtime.communication.communicator import Communicator
from irax_runtime.communication.threads import ThreadGroup

DEVICES = 12
MODULE = "tests.runtime.communication.test_ordered_sums"


def numbers(size: int) -> np.ndarray[Any, Any]:
    """Return an array for each device, whose sum depends on the order."""
    rng = np.random.default_rng(size)
    found = rng.standard_normal((DEVICES, size)) * 10.0 ** rng.integers(-4, 4, (DEVICES, size))
    return found.astype(np.float32)


def in_order(arrays: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array
    return total


@pytest.mark.parametrize("size", [12, 24_000])
def test_arrays_are_combined_in_the_order_of_the_group(size: int):
    arrays = numbers(size)
    group = (3, 0, 11, 5, 1, 2, 4, 6, 7, 8, 9, 10)

    def run(rank: Communicator) -> tuple[Any, Any]:
        own = arrays[rank.rank]
        total = Communicator.all_reduce_in_order(rank, own, "add", group)
        parts = own.reshape(DEVICES, -1)
        return total, Communicator.reduce_scatter_in_order(rank, parts, group)

    expected = in_order(arrays[list(group)])
    for rank, (total, part) in enumerate(ThreadGroup(DEVICES).run(run)):
        np.testing.assert_array_equal(total, expected)
        np.testing.assert_array_equal(part, expected.reshape(DEVICES, -1)[group.index(rank)])


def digest() -> str:
    """Return a digest of sums over the devices, checked as far as NumPy knows their bits."""
    mesh = irax.make_mesh((DEVICES,), ("data",))
    everywhere, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    found = []
    for size in (12, 24_000):
        arrays = numbers(size)

        def total(x: Any) -> Any:
            return irax.lax.psum(x[0], "data")

        def part(x: Any) -> Any:
            return irax.lax.psum_scatter(x[0], "data", tiled=True)

        for function, of in ((total, P()), (part, P("data"))):
            sums = irax.shard_map(function, mesh=mesh, in_specs=P("data"), out_specs=of)
            whole = irax.jit(sums, out_shardings=everywhere)(irax.device_put(arrays, rows))
            found.append(np.asarray(whole))
            np.testing.assert_array_equal(found[-1], in_order(arrays))
    w = irax.device_put(numbers(12)[:, :6].copy(), everywhere)
    x, y = (irax.device_put(numbers(size).reshape(48, -1), rows) for size in (48, 24))

    def loss(w: Any, x: Any, y: Any) -> Any:
        return jnp.mean((jnp.tanh(x @ w) - y) ** 2)

    slopes = irax.jit(irax.grad(loss), out_shardings=everywhere)(w, x, y)
    return hashlib.sha256(b"".join(x.tobytes() for x in [*found, np.asarray(slopes)])).hexdigest()


def said(count: int, by_mpi: bool) -> set[str]:
    """Return what the processes of a job print."""
    command = [sys.executable, "-m", MODULE]
    # By itself, a process would run one program on the memory that its devices share.
    own = {**os.environ, "IRAX_CPU_DEVICES": str(DEVICES // count), "IRAX_SPMD": "threads"}
    options: dict[str, Any] = {"cwd": ROOT, "text": True, "stdout": subprocess.PIPE}
    if by_mpi:
        jobs = [subprocess.Popen([*launcher(count), *command], env=own, **options)]
    else:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        where = {"JAX_COORDINATOR_ADDRESS": f"127.0.0.1:{port}", "JAX_NUM_PROCESSES": str(count)}
        jobs = [
            subprocess.Popen(command, env={**own, **where, "JAX_PROCESS_ID": str(i)}, **options)
            for i in range(count)
        ]
    lines = [line for job in jobs for line in job.communicate(timeout=300)[0].splitlines()]
    assert not any(job.returncode for job in jobs)
    assert len(lines) == count
    return set(lines)


@pytest.mark.slow
def test_sums_have_the_same_bits_on_other_numbers_of_processes():
    alone = said(1, by_mpi=False)
    for count in (2, 3, 4):
        assert said(count, by_mpi=False) == alone
        assert said(count, by_mpi=True) == alone


if __name__ == "__main__":
    irax.distributed.initialize()
    with irax.deterministic("batch"):
        print(digest(), flush=True)
