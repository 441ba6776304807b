"""Programs of several processes: each runs the same Python program, on devices of its own.

    mpiexec -n 4 python train.py

with `irax.distributed.initialize()` before all else in it. Without a launcher of MPI, processes
meet where process 0 serves a store, as those of JAX do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.core.tracebacks import api_boundary
from irax_runtime import distributed as _distributed
from irax_runtime.communication import current as _current
from irax_runtime.communication.communicator import DEFAULT_LIMIT as _DEFAULT_LIMIT
from irax_runtime.communication.mpi import is_installed as _is_installed
from irax_runtime.communication.mpi import is_launched as _is_launched
from irax_runtime.communication.places import find as _find_place


@api_boundary
def initialize(
    coordinator_address: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
    local_device_ids: int | Sequence[int] | None = None,
    cluster_detection_method: str | None = None,
    initialization_timeout: int = 300,
    heartbeat_timeout_seconds: int = 100,
    shutdown_timeout_seconds: int = 300,
    coordinator_bind_address: str | None = None,
    slice_index: int | None = None,
    partition_index: int | None = None,
    *,
    limit: float = _DEFAULT_LIMIT,
    **options: Any,
) -> None:
    """Join the job that this process was started in.

    A launcher of MPI's (`mpiexec`, or a cluster's own) knows the processes and connects them.
    Otherwise `coordinator_address`, `num_processes` and `process_id` say where they meet, or JAX's
    variables `JAX_COORDINATOR_ADDRESS`, `JAX_NUM_PROCESSES` and `JAX_PROCESS_ID`, or those of
    Slurm's `srun`; they communicate by TCP. A process that was started by itself is a job of one.

    Where a process raises an exception, is killed, hangs, loses its host or its cable, or runs
    another program than the others, the whole job ends with a message that names the process, its
    host and the program.

    Args:
        coordinator_address: where process 0 can be reached, as `"HOST:PORT"`. MPI needs none.
        num_processes: the number of processes, which is checked if MPI knows it.
        process_id: the number of this process, which is checked if MPI knows it.
        local_device_ids: accepted; a process has the devices that it sees.
        cluster_detection_method: `"deactivate"` leaves Slurm's variables aside.
        initialization_timeout: the seconds in which all processes must have come; MPI's launcher
            has its own.
        heartbeat_timeout_seconds: the seconds after which a process of which nothing is heard is
            lost, if these are fewer than `limit`.
        shutdown_timeout_seconds: accepted.
        coordinator_bind_address: where process 0 listens, as `"HOST:PORT"`.
        slice_index: accepted.
        partition_index: accepted.
        limit: the seconds that a process waits for the others in a collective.
        options: further options of JAX's, which are accepted.

    Raises:
        RuntimeError: it has joined before, or devices are in use already, or MPI is not installed,
            or not all processes have come.
        ValueError: `num_processes` or `process_id` is not what MPI says, or is missing.

        irax.distributed.initialize()
        print(irax.process_index(), "of", irax.process_count())
    """
    place = None
    if coordinator_address is not None or not (_is_launched() and _is_installed()):
        place = _find_place(
            coordinator_address,
            num_processes,
            process_id,
            coordinator_bind_address,
            initialization_timeout,
            cluster_detection_method != "deactivate",
        )
    _distributed.start(limit, heartbeat_timeout_seconds, place)
    given = {"num_processes": num_processes, "process_id": process_id}
    true = {
        "num_processes": _distributed.process_count(),
        "process_id": _distributed.process_index(),
    }
    for name, value in given.items():
        if value is not None and value != true[name]:
            raise ValueError(
                f"distributed.initialize: {name}={value}, but the launcher of this job says "
                f"{true[name]}: start the processes with mpiexec -n {num_processes or 'N'}, or "
                "give coordinator_address"
            )


def is_initialized() -> bool:
    """Return True if this process has joined a job.

    >>> irax.distributed.is_initialized()
    False
    """
    return _distributed.is_started()


def note_saved(what: str) -> None:
    """Note what has been saved: if the job ends for a fault, its last line says so.

    Args:
        what: what the job can start again from. What process 0 notes holds for all processes that
            note nothing.

        checkpoints.wait_until_finished()
        irax.distributed.note_saved(f"step {step} in {folder}")
    """
    _distributed.note_saved(what)


def shutdown() -> None:
    """Wait for the other processes of the job. MPI ends with the process."""
    _current.of_process().barrier()


__getattr__: _GetAttr = _refuse_names(__name__)
