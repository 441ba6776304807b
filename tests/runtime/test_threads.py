"""The number of threads for programs on the processor."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.runtime.pjrt.pjrt_programs import python

from irax_runtime import threads


@pytest.fixture(autouse=True)
def sixteen_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(threads.VARIABLE, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)


def files(root: Path, contents: dict[str, str]) -> Path:
    """Files of a system, in which all the rest is missing."""
    for name, text in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


GROUP = "sys/fs/cgroup/kubepods/pod1"
V1 = "12:cpuset:/\n3:cpu,cpuacct:/docker/abc\n0::/\n"


@pytest.mark.parametrize(
    "contents, expected",
    [
        ({}, 16),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, 16),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "200000 100000\n"}, 2),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "250000 100000\n"}, 3),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "1000 100000\n"}, 1),
        ({"proc/self/cgroup": "0::/kubepods/pod1\n", f"{GROUP}/cpu.max": "400000 100000\n"}, 4),
        (
            {
                "proc/self/cgroup": "0::/kubepods/pod1\n",
                f"{GROUP}/cpu.max": "max 100000\n",
                "sys/fs/cgroup/kubepods/cpu.max": "300000 100000\n",
            },
            3,
        ),
        (
            {
                "proc/self/cgroup": V1,
                "sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us": "500000\n",
                "sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us": "100000\n",
            },
            5,
        ),
        (  # in a container, the group is the outermost that it sees
            {
                "proc/self/cgroup": V1,
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "600000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            6,
        ),
        (
            {
                "proc/self/cgroup": V1,
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            16,
        ),
    ],
)
def test_processors_are_those_of_affinity_and_quota(
    tmp_path: Path, contents: dict[str, str], expected: int
) -> None:
    assert threads.processors(files(tmp_path, contents)) == expected


def test_the_variable_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(threads.VARIABLE, " 3 ")
    assert threads.count() == 3
    monkeypatch.setenv(threads.VARIABLE, "")
    assert threads.count() == threads.processors()


@pytest.mark.parametrize("text", ["none", "0", "-1", "1.5"])
def test_a_bad_number_names_the_variable(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(threads.VARIABLE, text)
    with pytest.raises(ValueError, match=f"IRAX_NUM_THREADS={text}: expected a number of threads"):
        threads.count()


PROGRAM = """
import os
from pathlib import Path
import numpy as np
import irax

x = np.ones((500, 500), np.float32)
print(float(irax.jit(lambda x: irax.numpy.cos(x - 1) @ x)(x)[0, 0]))
tasks = Path("/proc/self/task").iterdir()
workers = [t for t in tasks if (t / "comm").read_text().startswith("iree-worker")]
affinities = {frozenset(os.sched_getaffinity(int(t.name))) for t in workers}
print(len(workers), affinities == {frozenset(os.sched_getaffinity(0))})
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's list of threads")
def test_a_program_runs_with_as_many_threads_fixed_to_no_processor() -> None:
    assert python(PROGRAM, IRAX_NUM_THREADS="3").stdout == "500.0\n3 True\n"


@pytest.mark.slow
def test_one_thread_is_the_caller() -> None:
    assert python(PROGRAM, IRAX_NUM_THREADS="1").stdout.startswith("500.0\n")
