"""Faults of jobs of another MPI's launcher, on this machine.

python -m tests.hosts.launchers PYTHON

PYTHON is that of an environment with irax, mpi4py and an MPI, such as mpich or impi-rt, whose
mpiexec is beside it. It prints a table: the fault, the seconds from it to the end of the job, the
launcher's status, the last line of irax's.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.hosts.job import FAULTS
from tests.hosts.test_faults import LIMIT, MODULE


def outcome(python: Path, fault: str, ranks: int = 3) -> tuple[float, int, str]:
    """Run a job with a fault; return the seconds from it to the end, the status, the last line."""
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    command = [python.parent / "mpiexec", "-n", str(ranks), python, "-m", MODULE]
    job = subprocess.Popen(
        [*command, "1000000", str(LIMIT), fault],
        env={**os.environ, "PATH": path, "I_MPI_FABRICS": "shm"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    start, last = time.monotonic(), ""
    assert job.stdout is not None
    try:
        for line in job.stdout:
            if line.startswith("now"):
                start = time.monotonic()
            if line.startswith("irax: "):
                last = line.strip()
        return time.monotonic() - start, job.wait(), last
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)


def main(python: str) -> None:
    """Print the table."""
    print("| rank 1 | s to the end | status | last line |\n|---|---|---|---|")
    for fault in (*FAULTS, "swapped"):
        seconds, status, line = outcome(Path(python).absolute(), fault)
        print(f"| {fault} | {seconds:.1f} | {status} | {line} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
