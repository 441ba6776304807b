"""Communication between threads and between processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.random_collectives import in_processes, in_threads
from tests.runtime.communication.collective_checks import check_all

from irax_compiler import mlir, targets
from irax_compiler.lowering import lower
from irax_runtime.communication.communicator import Alone, CommunicationError, Communicator
from irax_runtime.communication.current import current
from irax_runtime.communication.ranks import ProcessRanks, _Division
from irax_runtime.communication.threads import ThreadGroup
from irax_runtime.iree.cpu import cpu

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_threads_communicate_as_numpy_says(size: int):
    assert min(ThreadGroup(size).run(check_all)) > 0


def test_a_process_alone_communicates_with_itself():
    assert check_all(Alone()) > 0
    assert current().size == 1


@pytest.mark.parametrize("size", [1, 4])
def test_a_process_may_have_all_ranks(size: int):
    assert min(ProcessRanks(Alone(), (0,) * size).run(check_all)) > 0


def test_arrays_go_from_process_to_process_in_rounds():
    division = _Division(ProcessRanks(Alone(), (0, 1, 0, 1, 2)), (0, 1, 2, 3, 4))
    # 2 from 0 stays in the process; 0 goes to 1 and 4 at once, and to 3 after it.
    assert division.rounds([4, 0, 0, 0, 0]) == [{0: 4, 1: 0, 4: 0}, {3: 0}]
    assert division.rounds([1, -1, 3, -1, -1]) == [{0: 1}, {2: 3}]
    assert division.rounds([2, 3, 0, 1, 4]) == []


def test_a_thread_group_runs_many_programs():
    group = ThreadGroup(3)
    for i in range(50):
        found = group.run(lambda c, i=i: c.exchange(f"{c.rank}:{i}".encode()))
        assert found == [[f"{r}:{i}".encode() for r in range(3)]] * 3


def raises(communicator: Communicator) -> None:
    if communicator.rank == 1:
        raise ZeroDivisionError("a fault of rank 1")
    communicator.barrier()


def leaves(communicator: Communicator) -> None:
    if communicator.rank != 1:
        communicator.all_reduce(np.ones(3, np.float32), "add", (0, 1, 2))


def differs_in_shape(communicator: Communicator) -> None:
    communicator.all_reduce(np.ones(3 + communicator.rank, np.float32), "add", (0, 1, 2))


def differs_in_collective(communicator: Communicator) -> None:
    x = np.ones((3, 1), np.float32)
    if communicator.rank == 1:
        communicator.all_gather(x, (0, 1, 2))
    else:
        communicator.all_to_all(x, (0, 1, 2))


def differs_in_program(communicator: Communicator) -> None:
    communicator.check_same(str(communicator.rank == 1), "jit of step")


def hangs(communicator: Communicator) -> None:
    if communicator.rank == 1:
        time.sleep(1000)
    communicator.all_reduce(np.ones(3, np.float32), "add", (0, 1, 2))


def comes_late(communicator: Communicator) -> None:
    if communicator.rank == 1:
        communicator.exchange(b"")
    else:
        communicator.all_reduce(np.ones(3, np.float32), "add", (0, 2, 1))


@pytest.mark.parametrize(
    "program, error, message",
    [
        (raises, ZeroDivisionError, "a fault of rank 1"),
        (leaves, CommunicationError, r"all_reduce \(add\) of float32\[3\]: rank 1 has ended"),
        (differs_in_shape, CommunicationError, r"of float32\[.\], but rank . calls"),
        (differs_in_collective, CommunicationError, "calls all_"),
        (differs_in_program, CommunicationError, "runs another program than rank"),
        (
            hangs,
            CommunicationError,
            "rank . in all_reduce .*: rank (1 did not come within|. failed)",
        ),
        (comes_late, CommunicationError, "did not come within 0.3 seconds|failed"),
    ],
)
def test_faults_of_threads_end_the_run(program: Any, error: Any, message: str):
    group = ThreadGroup(3, limit=0.3)
    with pytest.raises(error, match=message):
        group.run(program)
    assert group.run(lambda c: c.rank) == [0, 1, 2]


@pytest.mark.slow
def test_a_rank_that_hangs_does_not_keep_the_process():
    code = """
        from tests.runtime.communication.test_communication import *
        try:
            ThreadGroup(3, limit=0.3).run(hangs)
        except CommunicationError as error:
            print("did not come" in str(error))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


PROGRAM = """
func.func @main(%x: tensor<2x2xf32>, %i: tensor<i32>)
    -> (tensor<2x2xf32>, tensor<i32>, tensor<2x2xf32>) attributes {irax.mesh = "a=2,b=2"} {
  %sum = stablehlo.custom_call @irax.all_reduce(%x) {api_version = 4 : i32,
    backend_config = {axis = "b", size = 2 : i64, combiner = "add"}, has_side_effect = false}
    : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %place = stablehlo.custom_call @irax.axis_index() {api_version = 4 : i32,
    backend_config = {axis = "a", size = 2 : i64}, has_side_effect = false} : () -> tensor<i32>
  %parts = stablehlo.custom_call @irax.all_to_all(%x) {api_version = 4 : i32,
    backend_config = {axis = "a", size = 2 : i64, split = 1 : i64, concat = 0 : i64},
    has_side_effect = false} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %sum, %place, %parts : tensor<2x2xf32>, tensor<i32>, tensor<2x2xf32>
}
"""


def test_a_compiled_program_communicates():
    module = lower(mlir.parse_module(PROGRAM), "main", "iree-cpu")
    executable = cpu().load(targets.compile(module, "iree-cpu"))
    arrays = [np.arange(4, dtype=np.float32).reshape(2, 2) + 10 * rank for rank in range(4)]

    def run(communicator: Communicator) -> list[Any]:
        arguments = [arrays[communicator.rank], np.int32(0)]
        return [x.numpy() for x in executable([cpu().put(np.asarray(a)) for a in arguments])]

    for rank, (total, place, parts) in enumerate(ThreadGroup(4).run(run)):
        a, b = divmod(rank, 2)
        np.testing.assert_array_equal(total, arrays[2 * a] + arrays[2 * a + 1])
        assert place == a
        np.testing.assert_array_equal(parts, [arrays[b][:, a], arrays[2 + b][:, a]])


# ---- processes -----------------------------------------------------------------------------------


def launcher(size: int) -> list[str]:
    """The command that starts a number of processes."""
    options = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(size)]
    return [str(Path(sys.executable).parent / "mpiexec"), *options]


def job(
    size: int, *arguments: str, module: str = "tests.runtime.communication.mpi_job"
) -> subprocess.CompletedProcess[str]:
    command = [*launcher(size), sys.executable, "-m", module, *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=60
    )


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 4])
def test_processes_communicate_as_numpy_says(size: int):
    done = job(size)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("checked") == size


@pytest.mark.parametrize(
    "ranks",
    [in_threads, in_processes, partial(in_processes, size=2, devices=2)],
    ids=["threads", "processes", "devices of processes"],
)
@pytest.mark.slow
def test_random_collectives_are_as_numpy_says(ranks: Any):
    assert list(ranks(20)) == list(range(20))


@pytest.mark.slow
def test_devices_of_processes_communicate_as_numpy_says():
    done = job(2, "devices")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("checked") == 2


@pytest.mark.slow
def test_a_fault_of_a_device_ends_the_job():
    done = job(2, "devices", "raise")
    assert done.returncode != 0
    assert "checked" not in done.stdout
    assert "a fault of a device" in done.stderr
    assert "ended by ZeroDivisionError" in done.stderr or "device 3 of the mesh" in done.stderr


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    "fault, message",
    [
        ("raise", "a fault of rank 1"),
        ("kill", r"signal 9|Killed|lost rank 1 on host .*, which has ended"),
        ("stop", "rank 0 .* (lost rank 1 |exchange has waited)"),
        ("hang", "rank .* exchange has waited for other ranks for more than 2 seconds"),
        ("exit", "has waited for other ranks"),
        ("differ", "runs another program than rank"),
        ("size", "rank . calls another all_reduce than rank"),
    ],
)
def test_faults_of_processes_end_the_job(fault: str, message: str):
    done = job(2, fault)
    assert done.returncode != 0
    assert "checked" not in done.stdout
    assert re.search(message, done.stderr), done.stderr


IN_F_OR_G = "in jit of [fg]"
"""The program of a rank, which may be the first to see what is wrong, or the other."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize(
    "arguments, message",
    [
        (["3"], r"all_reduce of float32\[3\] in jit of [fg] has waited for other ranks for more"),
        (["300000"], f"rank . {IN_F_OR_G} calls another all_reduce than rank .* {IN_F_OR_G}: all"),
        (
            ["3", "crowded"],
            f"rank . {IN_F_OR_G} calls another collective than rank .* {IN_F_OR_G}: all",
        ),
    ],
    ids=["small", "large", "crowded"],
)
def test_programs_in_another_order_end_the_job(count: int, arguments: list[str], message: str):
    done = job(count, "swapped", *arguments)
    assert done.returncode != 0
    assert "checked" not in done.stdout
    assert re.search(message, done.stderr), done.stderr
