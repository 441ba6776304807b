"""The number of threads that programs on the processor run with.

`IRAX_NUM_THREADS` says it. Without it there is one for each processor that the process may use; the
processes of an MPI job share those of a machine. Affinity (`taskset`, a container's cpuset) limits
them, and so does the quota of processor time that control groups have (`docker run --cpus`, a
Kubernetes limit).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import ceil
from pathlib import Path, PurePosixPath

from irax_runtime.communication import current, mpi

VARIABLE = "IRAX_NUM_THREADS"


def count() -> int:
    """The number of threads for programs.

    Raises:
        ValueError: the environment variable is not a number of threads.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return max(1, processors() // max(mpi.processes_here(), current.processes_here()))
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{VARIABLE}={text}: expected a number of threads, 1 or more")
    return int(text)


def processors(root: Path = Path("/")) -> int:
    """The number of processors that this process may use. A part of one counts as one."""
    if hasattr(os, "sched_getaffinity"):
        number = len(os.sched_getaffinity(0))
    else:
        number = os.cpu_count() or 1
    return min([number, *(max(1, ceil(quota)) for quota in _quotas(root))])


def _quotas(root: Path) -> Iterator[float]:
    """The processors' worth of time that control groups allow, of both versions. A group's limit
    holds for the groups in it, so those around the process's count too; a container sees its own
    group as the outermost.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text("utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        group = PurePosixPath(path.lstrip("/"))
        for place in (group, *group.parents):
            if not controllers:
                yield from _quota((root / "sys/fs/cgroup" / place / "cpu.max",))
            elif "cpu" in controllers.split(","):
                folder = root / "sys/fs/cgroup/cpu" / place
                yield from _quota((folder / "cpu.cfs_quota_us", folder / "cpu.cfs_period_us"))


def _quota(files: tuple[Path, ...]) -> Iterator[float]:
    """The quota over the period, which stand in one file or in two; nothing if there is no limit,
    which is "max" or -1.
    """
    try:
        words = [word for file in files for word in file.read_text("utf-8").split()]
    except OSError:
        return
    if len(words) == 2 and all(word.isdecimal() for word in words) and int(words[1]):
        yield int(words[0]) / int(words[1])
