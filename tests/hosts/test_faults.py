"""Whatever a job loses, its other processes end in time, and say what was lost and what was saved.
What is only slow loses nothing.

IRAX_ALL_FORMS=1 tries all; without it, some. `python -m tests.hosts.test_faults` prints a table.
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
from tests.sampling import ALL_FORMS

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
        says: the last line of irax's of the ranks that are left; None where the job goes on.
        left: the ranks that are left.
        seconds: the most seconds until all has ended.
        launchers: how the job may be started.
        kind: one of the program's own faults.
        tells_status: the launcher's exit status is not 0.
    """

    happens: Happens
    says: str | None
    left: tuple[int, ...] = EVERYONE
    seconds: float = LIMIT + 5
    launchers: tuple[str, ...] = tuple(LAUNCHERS)
    kind: str = ""
    tells_status: bool = True


def _signal(rank: int, number: signal.Signals) -> Happens:
    return lambda bed, job: job.signal(bed[rank], number)


def _kill_commands(rank: int, words: str) -> Happens:
    def kill(bed: Bed, job: Job) -> None:
        for pid in bed[rank].processes(words):
            os.kill(pid, signal.SIGKILL)

    return kill


def _for_a_third_of_the_limit(
    begin: Callable[[Bed, Job], None], end: Callable[[Bed, Job], None]
) -> Happens:
    def happen(bed: Bed, job: Job) -> None:
        begin(bed, job)
        time.sleep(LIMIT / 3)
        end(bed, job)

    return happen


def _is_slow(rank: int) -> Fault:
    stop, go_on = _signal(rank, signal.SIGSTOP), _signal(rank, signal.SIGCONT)
    return Fault(_for_a_third_of_the_limit(stop, go_on), None)


_SAVED = r"; saved: step \d+ in /mnt$"


def _lost(rank: int, how: str) -> str:
    where = r"in run \d+ of jit of \w+ in step \d+"
    return rf"lost rank {rank} on host h{rank + 1}, which {how}.* {where}.*{_SAVED}"


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
        f"lost the launcher of rank 2 on host h3.*{_SAVED}",
        left=(0,),
        launchers=("mpiexec",),
        tells_status=False,
    ),
    "the launcher is killed": Fault(
        _kill_commands(0, "bin/prterun"),
        f"lost the launcher of rank 0 on host h1.*{_SAVED}",
        launchers=("mpiexec",),
    ),
    "the disk of rank 2 is full": Fault(
        lambda bed, job: bed[2].fill_disk(),
        r"rank 2 on host h3: ended by OSError: \[Errno 28\] No space left.* in step \d+" + _SAVED,
        seconds=5,
    ),
    "rank 1 swaps two programs": Fault(
        lambda bed, job: None,
        r"calls another collective than rank \d in jit of|has waited for other ranks for more than"
        r".*; rank 1 on host h2 in all_reduce of \S+ in run \d+ of jit of evaluate",
        kind="swapped",
        seconds=120,
    ),
    "rank 2 is stopped for 5 s": _is_slow(2),
    "rank 0 is stopped for 5 s": _is_slow(0),
    "the cable of rank 2 is out for 5 s": Fault(
        _for_a_third_of_the_limit(lambda bed, job: bed[2].cut(), lambda bed, job: bed[2].restore()),
        None,
    ),
    "a tenth of the packets of rank 2 is lost": Fault(
        lambda bed, job: bed[2].lose_packets(0.1), None, seconds=60
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
        steps = "150" if fault.says is None else "1000000"
        job = Job(bed, launcher, MODULE, steps, str(LIMIT), fault.kind, "/mnt")
        if not fault.kind:
            job.await_line("step 8 ", 120)
            time.sleep(1.2)  # a beat tells the last run
        fault.happens(bed, job)
        seconds = job.end(fault.seconds)
        codes = [code for rank, code in enumerate(job.codes) if rank in fault.left or code]
        return Outcome(seconds, codes, {rank: job.last_words(rank) for rank in fault.left})


QUICK = (
    ("rank 2 is killed", "mpiexec"),
    ("the cable of rank 2 is cut", "by hand"),
    ("the disk of rank 2 is full", "by hand"),
    ("a tenth of the packets of rank 2 is lost", "by hand"),
)
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
    assert fault.says is None or all(found.codes) or not fault.tells_status, found
    if fault.says is None:
        assert not any(found.codes), found
        assert not any(found.lines.values()), found
        return
    for rank, line in found.lines.items():
        head = f"irax: rank {rank} of 3 on host h{rank + 1}: "
        assert line.startswith(head), found
        assert re.search(fault.says, line), found


def main(runs: int = 3, words: str = "") -> None:
    """Print the table of docs/how-to/lost-hosts.md, of so many runs of each fault whose name has
    some words in it.
    """
    print("| what happens | started | s to the end | status | last line |\n|---|---|---|---|---|")
    for name, fault in FAULTS.items():
        for launcher in fault.launchers if words in name else ():
            found = [outcome(launcher, fault) for _ in range(runs)]
            seconds = ", ".join(f"{one.seconds:.1f}" for one in found)
            codes = ", ".join(dict.fromkeys(str(one.codes[0]) for one in found))
            # The first rank is left, unless its host is what is lost.
            line = next(filter(None, found[0].lines.values()), "none: the job goes on")
            silent = [
                rank for one in found for rank, said in one.lines.items() if fault.says and not said
            ]
            line += f" (no line of ranks {silent})" if silent else ""
            print(f"| {name} | {launcher} | {seconds} | {codes} | {line} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
