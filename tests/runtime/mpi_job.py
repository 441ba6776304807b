"""The program of each process of the MPI jobs of `test_communication.py`.

python -m tests.runtime.mpi_job [raise | exit | kill | hang | differ]: what rank 1 does.
"""

from __future__ import annotations

import os
import signal
import sys
import time

import numpy as np
from tests.runtime.collective_checks import check_all

from irax_runtime.communication import mpi

LIMIT = 2.0


def main(fault: str = "") -> None:
    communicator = mpi.start(LIMIT)
    everyone = tuple(range(communicator.size))
    if communicator.rank == 1:
        match fault:
            case "raise":
                raise ValueError("a fault of rank 1")
            case "exit":
                return
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "hang":
                time.sleep(1000)
    communicator.check_same(f"{fault == 'differ' and communicator.rank}", "jit of step")
    print("checked", check_all(communicator), flush=True)
    communicator.all_reduce(np.ones(3, np.float32), "add", everyone)


if __name__ == "__main__":
    main(*sys.argv[1:])
