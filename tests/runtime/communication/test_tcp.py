"""Processes that meet at a store, and communicate by TCP."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from irax_runtime.communication import places
from irax_runtime.communication.communicator import CommunicationError
from irax_runtime.communication.tcp import Place, start
from irax_runtime.communication.tcp_links import Links
from irax_runtime.communication.watchdog import Watched

ROOT = Path(__file__).parents[3]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def job(
    size: int,
    *arguments: str,
    module: str = "tests.runtime.communication.mpi_job",
    **variables: str,
) -> list[subprocess.CompletedProcess[str]]:
    """Run processes that meet at a port of this machine."""
    address = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", module, *arguments]
    running = []
    for number in range(size):
        own = {"JAX_NUM_PROCESSES": str(size), "JAX_PROCESS_ID": str(number)}
        environment = {**os.environ, "JAX_COORDINATOR_ADDRESS": address, **own, **variables}
        running.append(
            subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    done = []
    for process in running:
        try:
            out, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()  # one that is stopped stays so
            out, err = process.communicate()
        done.append(subprocess.CompletedProcess(command, process.returncode, out, err))
    return done


@pytest.mark.parametrize("size", [3, pytest.param(2, marks=pytest.mark.slow)])
def test_processes_communicate_as_numpy_says(size: int):
    for done in job(size):
        assert done.returncode == 0, done.stderr
        assert "checked" in done.stdout


@pytest.mark.slow
def test_devices_of_processes_communicate_as_numpy_says():
    for done in job(2, "devices"):
        assert done.returncode == 0, done.stderr
        assert "checked" in done.stdout


@pytest.mark.slow
def test_programs_run_on_meshes_of_the_processes():
    for done in job(2, module="tests.frontend.meshes.mesh_job"):
        assert done.returncode == 0, done.stderr
        assert "done" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3])
def test_processes_tell_each_other_values_outside_of_programs(size: int):
    for done in job(size, module="tests.frontend.meshes.coordination_job"):
        assert done.returncode == 0, done.stderr
        assert "done" in done.stdout


FAULTS = {
    "raise": r"rank 1 on host .*: ended by ValueError: a fault of rank 1",
    "exit": r"rank 0 waits for rank 1, which has ended|has waited for other ranks",
    "kill": r"lost rank 1 on host .*, which has ended",
    "hang": r"exchange has waited for other ranks for more than 2 seconds.*; rank 1 on host",
    "differ": "runs another program than rank",
    "size": r"rank 0, in all_reduce .*, calls another collective than rank 1|lost rank 1|on host",
}
"""The faults of rank 1, and what rank 0 says of each."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", list(FAULTS))
def test_faults_of_processes_end_the_job(fault: str):
    first, second = job(2, fault)
    assert first.returncode != 0
    assert second.returncode != 0 or fault == "exit"
    assert "checked" not in first.stdout
    assert re.search(FAULTS[fault], first.stderr), first.stderr


@pytest.mark.slow
@pytest.mark.parametrize("size", ["3", "300000"])
def test_programs_in_another_order_end_the_job_at_once(size: str):
    start = time.monotonic()
    found = job(3, "swapped", size)
    assert all(done.returncode for done in found)
    said = "".join(done.stderr for done in found)
    in_order = r"in all_reduce .* in jit of [fg], calls another collective than rank . in jit of"
    assert re.search(in_order, said), said
    assert time.monotonic() - start < 15


# ---- connections ---------------------------------------------------------------------------------


@pytest.fixture
def pair() -> Iterator[tuple[Links, Links]]:
    a, b = socket.socketpair()
    links = Links(0, {1: a}, {0: ""}), Links(1, {0: b}, {0: ""})
    yield links
    for own in links:
        own.end()


def call(what: str) -> Watched:
    return Watched({}, what, None, "")


def test_large_messages_cross_without_waiting_for_each_other(pair: tuple[Links, Links]):
    first, second = pair
    sent = [np.full(5_000_000, i, np.uint8) for i in range(2)]
    received = [np.zeros(5_000_000, np.uint8) for _ in range(2)]

    def swap(links: Links, other: int) -> None:
        for _ in range(3):
            row, result = sent[1 - other], received[other]
            links.channel("", 0).swap(call("x"), [(other, row)], [(other, result)])

    thread = threading.Thread(target=swap, args=(second, 0))
    thread.start()
    swap(first, 1)
    thread.join()
    np.testing.assert_array_equal(received[0], sent[0])
    np.testing.assert_array_equal(received[1], sent[1])


def test_threads_have_the_messages_of_their_channels(pair: tuple[Links, Links]):
    first, second = pair
    count, rounds = 4, 50
    wrong: list[object] = []

    def swap(links: Links, other: int, number: int) -> None:
        channel = links.channel(f"group {number}", 0)
        rng = np.random.default_rng(number)
        for i in range(rounds):
            size = int(rng.integers(0, 70_000))
            row, result = np.full(size, 10 * number + i, np.uint8), np.zeros(size, np.uint8)
            channel.swap(call("x"), [(other, row)], [(other, result)])
            if not np.array_equal(row, result):
                wrong.append((number, i))

    threads = [
        threading.Thread(target=swap, args=(links, other, number))
        for number in range(count)
        for links, other in ((first, 1), (second, 0))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


def test_another_call_is_an_error(pair: tuple[Links, Links]):
    first, second = pair
    row = np.zeros(3, np.uint8)
    second.channel("", 0).swap(call("all_gather"), [(0, row)], [])
    with pytest.raises(CommunicationError, match=r"rank 0, in all_reduce, calls another .* rank 1"):
        first.channel("", 0).swap(call("all_reduce"), [], [(1, row)])


def test_what_came_before_the_end_is_there(pair: tuple[Links, Links]):
    first, second = pair
    row, result = np.arange(3, dtype=np.uint8), np.zeros(3, np.uint8)
    second.channel("", 0).swap(call("x"), [(0, row)], [])
    second.end()
    first.channel("", 0).swap(call("x"), [], [(1, result)])
    np.testing.assert_array_equal(result, row)
    with pytest.raises(CommunicationError, match="waits for rank 1, which has ended"):
        first.channel("", 0).swap(call("x"), [], [(1, result)])


# ---- places --------------------------------------------------------------------------------------


def test_places_are_of_arguments_of_variables_or_of_slurm():
    jax = {
        "JAX_COORDINATOR_ADDRESS": "a:1",
        "JAX_NUM_PROCESSES": "4",
        "JAX_PROCESS_ID": "3",
    }
    slurm = {
        "SLURM_JOB_ID": "4097",
        "SLURM_STEP_NODELIST": "n[03-05,7],m1",
        "SLURM_STEP_NUM_TASKS": "8",
        "SLURM_PROCID": "5",
    }
    assert places.find(variables={}) is None
    assert places.find(variables=jax) == Place("a:1", 4, 3)
    assert places.find("b:2", 2, 0, variables=jax) == Place("b:2", 2, 0)
    assert places.find(process_id=1, variables=jax) == Place("a:1", 4, 1)
    assert places.find(variables=slurm) == Place("n03:61441", 8, 5)
    assert places.find(detect=False, variables=slurm) is None
    assert places.find(variables=jax | slurm) == Place("a:1", 4, 3)
    assert [places.first_node(n) for n in ("one", "a[1-2]b", "x1,x2")] == ["one", "a1b", "x1"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("h:1",), "num_processes is missing: .* JAX_NUM_PROCESSES"),
        (("h:1", 2), "process_id is missing"),
        (("h:1", 2, 2), "process_id=2: expected a number from 0 to 1"),
        (("h", 2, 0), "coordinator_address='h': expected HOST:PORT"),
        (("h:1", 2, 0, "x"), "bind='x': expected HOST:PORT"),
    ],
)
def test_a_place_that_is_none_is_refused(arguments: tuple[object, ...], message: str):
    with pytest.raises(ValueError, match=message):
        places.find(*arguments, variables={})  # type: ignore[arg-type]


def test_a_process_waits_no_longer_than_told():
    with pytest.raises(
        CommunicationError, match=r"process 0 .* not been reached .* within 0.2 sec"
    ):
        start(Place(f"127.0.0.1:{free_port()}", 2, 1, timeout=0.2), 2.0, 2.0)
    with pytest.raises(CommunicationError, match=r"rank 0: rank 1, 2 has not come within 0.2 sec"):
        start(Place(f"127.0.0.1:{free_port()}", 3, 0, timeout=0.2), 2.0, 2.0)
