"""The program of each process of the jobs of `test_communication.py` and `test_tcp.py`.

python -m tests.runtime.communication.mpi_job, with arguments:

    [raise | exit | kill | stop | hang | differ | size]: what rank 1 does.
    swapped SIZE [crowded]: rank 1 calls the collectives of two programs in the other
        order, of arrays of a size.
    devices [raise]: several ranks each; what the last does.
    store | plugin: what the processes have in common.
"""

from __future__ import annotations

import os
import signal
import sys
import time

import numpy as np
from tests.runtime.communication.collective_checks import check_all, check_large

from irax_runtime import distributed
from irax_runtime.communication import current, mpi, places, store
from irax_runtime.communication.communicator import Communicator
from irax_runtime.communication.ranks import ProcessRanks

LIMIT = 2.0
OWNERS = ((0, 0, 1, 1), (1, 0, 1, 0), (0, 1, 1, 1), (0, 1), (1, 0, 0))
"""The processes of the devices of some meshes."""


def start(limit: float) -> Communicator:
    """Join the job, by MPI or by TCP, as it was started."""
    distributed.start(limit, place=None if mpi.is_launched() else places.find())
    return current.of_process()


def of_devices(fault: str = "") -> None:
    """Check the ranks of meshes of which a process has several."""
    communicator = start(30)
    meshes = [ProcessRanks(communicator, owners) for owners in OWNERS]

    def fails(rank: Communicator) -> None:
        if fault and rank.rank == 3:
            raise ZeroDivisionError("a fault of a device")
        rank.all_reduce(np.ones(3, np.float32), "add", (0, 1, 2, 3))

    for _ in range(3):
        counts = [count for mesh in meshes for count in mesh.run(check_all)]
    meshes[0].run(fails)
    print("checked", sum(counts), flush=True)


def of_programs(size: str, crowded: str = "") -> None:
    """Run two programs with collectives of the same shapes, in rank 1 in the other order."""
    if crowded:
        mpi.MOST_PROGRAMS = 0
    process = start(LIMIT)
    everyone = tuple(range(process.size))
    programs = [process.for_program(name, f"jit of {name}", everyone) for name in ("f", "g")]
    x = np.ones(int(size), np.float32)

    def run(*order: int) -> None:
        for number in order:
            total = programs[number].all_reduce(x, "add", everyone)
            np.testing.assert_array_equal(total, process.size * x)

    run(0, 1, 1, 0, 0)
    run(*((1, 0) if process.rank == 1 else (0, 1)))
    print("checked", flush=True)


def of_store() -> None:
    """Have what another process puts, which has long come to its end."""
    communicator = start(30)
    own, other = communicator.rank, 1 - communicator.rank
    store.of_process().put(f"rank {own}", b"%d" % own)
    if own == 1:
        time.sleep(1.0)
    assert store.of_process().get(f"rank {other}", 10.0) == b"%d" % other
    print("stored", flush=True)


def of_plugin() -> None:
    """Ask a plugin for devices whose programs do not communicate with other processes."""
    from irax_runtime.devices import devices

    start(30)
    try:
        devices("pjrt:cpu")
    except RuntimeError as error:
        print(error, flush=True)


def main(fault: str = "", *of_device: str) -> None:
    if fault == "devices":
        return of_devices(*of_device)
    if fault == "swapped":
        return of_programs(*of_device)
    if fault in ("store", "plugin"):
        return of_store() if fault == "store" else of_plugin()
    communicator = start(LIMIT if fault else 30)
    everyone = tuple(range(communicator.size))
    if communicator.rank == 1:
        match fault:
            case "raise":
                raise ValueError("a fault of rank 1")
            case "exit":
                return
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "stop":
                os.kill(os.getpid(), signal.SIGSTOP)
            case "hang":
                time.sleep(1000)
    communicator.check_same(f"{fault == 'differ' and communicator.rank}", "jit of step")
    if fault == "size":
        length = 300_000 + communicator.rank
        communicator.all_reduce(np.ones(length, np.float32), "add", everyone)
    print("checked", check_all(communicator) + check_large(communicator), flush=True)
    communicator.all_reduce(np.ones(3, np.float32), "add", everyone)


if __name__ == "__main__":
    main(*sys.argv[1:])
