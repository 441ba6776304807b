"""Whatever a job loses, its other processes end in time, and say what was lost.

IRAX_ALL_FORMS=1 tries all; without it, two. `python -m tests.hosts.test_faults` prints a table.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from tests.hosts.bed import Bed, why_not
from tests.hosts.jobs import LAUNCHERS, Job
from tests.sampling import ALL_FORMS, all_forms

pytestmark = [pytest.mark.needs_system(why_not()), pytest.mark.slow]

LIMIT = 15
"""The job's limit, in seconds."""
MODULE = "tests.hosts.job"
EVERYONE = (0, 1, 2)

Happens = Callable[[Bed, Job], None]


@dataclass(frozen=True)
class Fault:
    """A fault of a job of three ranks, a host each.

    Args:
        happens: makes it.
        says: the last line of irax's of the ranks that are left.
        left: the ranks that are left.
        seconds: the most seconds until all has ended.
        launchers: how the job may be started.
        arguments: further ones of the program.
        tells_status: the launcher's exit status is not 0.
    """

    happens: Happens
    says: str
    left: tuple[int, ...] = EVERYONE
    seconds: float = LIMIT + 5
    launchers: tuple[str, ...] = tuple(LAUNCHERS)
    arguments: tuple[str, ...] = ()
    tells_status: bool = True


def _signal(rank: int, number: signal.Signals) -> Happens:
    return lambda bed, job: job.signal(bed[rank], number)


def _kill_commands(rank: int, words: str) -> Happens:
    def kill(bed: Bed, job: Job) -> None:
        for pid in bed[rank].processes(words):
            os.kill(pid, signal.SIGKILL)

    return kill


def _lost(rank: int, how: str) -> str:
    return rf"lost rank {rank} on host h{rank + 1}, which {how}.* in run \d+ of jit of \w+"


_ENDED, _SILENT = "has ended", r"has not been heard of for \d+ seconds"
FAULTS = {
    "rank 2 is killed": Fault(_signal(2, signal.SIGKILL), _lost(2, _ENDED), left=(0, 1), seconds=5),
    "rank 0 is killed": Fault(_signal(0, signal.SIGKILL), _lost(0, _ENDED), left=(1, 2), seconds=5),
    "rank 2 is stopped": Fault(_signal(2, signal.SIGSTOP), _lost(2, _SILENT), left=(0, 1)),
    "the cable of rank 2 is cut": Fault(
        lambda bed, job: bed[2].cut(), f"{_lost(2, _SILENT)}|{_lost(0, _SILENT)}"
    ),
    "the cable of rank 0 is cut": Fault(
        lambda bed, job: bed[0].cut(),
        f"{_lost(0, _SILENT)}|{_lost(1, _SILENT)}|{_lost(2, _SILENT)}",
    ),
    "the host of rank 2 dies": Fault(lambda bed, job: bed[2].die(), _lost(2, _SILENT), left=(0, 1)),
    # Open MPI then ends ranks by itself, and may say that all is well.
    "the launcher's daemon is killed": Fault(
        _kill_commands(2, "bin/prted"),
        "lost|ended",
        left=(0,),
        launchers=("mpiexec",),
        tells_status=False,
    ),
    "the launcher is killed": Fault(
        _kill_commands(0, "bin/prterun"), "lost|ended", launchers=("mpiexec",)
    ),
    "rank 1 swaps two programs": Fault(
        lambda bed, job: None,
        r"calls another collective than rank \d in jit of|has waited for other ranks for more than"
        r".*; rank 1 on host h2 in all_reduce of \S+ in run \d+ of jit of evaluate",
        arguments=("swapped",),
        seconds=120,
    ),
}


@dataclass(frozen=True)
class Outcome:
    """The end of a job."""

    seconds: float
    codes: list[int | None]
    lines: dict[int, str]


def outcome(launcher: str, fault: Fault) -> Outcome:
    """Have a fault happen to a job; return what became of it."""
    with Bed(3) as bed:
        job = Job(bed, launcher, MODULE, "1000000", str(LIMIT), *fault.arguments)
        if not fault.arguments:
            job.await_line("step 8 ", 120)
            time.sleep(1.2)  # a beat tells the last run
        fault.happens(bed, job)
        seconds = job.end(fault.seconds)
        codes = [code for rank, code in enumerate(job.codes) if rank in fault.left or code]
        return Outcome(seconds, codes, {rank: job.last_words(rank) for rank in fault.left})


QUICK = ("rank 2 is killed", "mpiexec"), ("the cable of rank 2 is cut", "by hand")
CASES = [
    pytest.param(launcher, name, id=f"{name}, {launcher}")
    for name, fault in FAULTS.items()
    for launcher in fault.launchers
    if ALL_FORMS or (name, launcher) in QUICK
]


@pytest.mark.parametrize("launcher, name", CASES)
def test_a_fault_ends_the_job_in_time(launcher: str, name: str):
    fault = FAULTS[name]
    found = outcome(launcher, fault)
    assert all(found.codes) or not fault.tells_status, found
    for rank, line in found.lines.items():
        head = f"irax: rank {rank} of 3 on host h{rank + 1}: "
        assert line.startswith(head), found
        assert re.search(fault.says, line), found


@all_forms
@pytest.mark.parametrize("launcher", list(LAUNCHERS))
@pytest.mark.parametrize("rank", [0, 2])
def test_a_slow_rank_loses_nothing(launcher: str, rank: int):
    with Bed(3) as bed:
        job = Job(bed, launcher, MODULE, "150", str(LIMIT))
        job.await_line("step 8 ", 120)
        job.signal(bed[rank], signal.SIGSTOP)
        time.sleep(LIMIT / 3)
        job.signal(bed[rank], signal.SIGCONT)
        job.await_line("done")
        assert job.codes == [0] * len(job.codes)


def main(runs: int = 3) -> None:
    """Print the table of docs/how-to/lost-hosts.md, of so many runs of each fault."""
    print(
        "| fault | started | s to the end | last line of a rank that is left |\n|---|---|---|---|"
    )
    for name, fault in FAULTS.items():
        for launcher in fault.launchers:
            found = [outcome(launcher, fault) for _ in range(runs)]
            seconds = " ".join(f"{one.seconds:.1f}" for one in found)
            line = next(line for line in found[0].lines.values() if line)
            print(f"| {name} | {launcher} | {seconds} | {line} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
