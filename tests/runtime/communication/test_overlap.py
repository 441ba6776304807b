"""Collectives that take place while a program computes."""

from __future__ import annotations

import threading
from functools import cache

import numpy as np
import pytest
from tests.runtime.communication import overlapping, test_communication, test_tcp
from tests.runtime.communication.overlapping import LOOK

from irax_runtime.communication import collectives
from irax_runtime.communication.communicator import Alone, Array, CommunicationError, Group
from irax_runtime.communication.current import communicating
from irax_runtime.communication.threads import ThreadGroup

program = cache(overlapping.compiled)


class Slow(Alone):
    """A rank whose sums take place once the program has computed what does not depend on them."""

    overlaps = True

    def __init__(self, fails: bool = False) -> None:
        self.has_computed = threading.Event()
        self.fails = fails
        self.summed: list[tuple[int, ...]] = []

    def all_reduce(self, x: Array, combiner: str, group: Group) -> Array:
        assert self.has_computed.wait(60), "the program waits for a collective that has begun"
        self.summed.append(x.shape)
        if self.fails:
            raise CommunicationError("rank 1 failed")
        return x.copy()


def test_a_program_computes_while_its_sums_are_on_their_way(monkeypatch: pytest.MonkeyPatch):
    rank = Slow()
    monkeypatch.setattr(LOOK, "then", rank.has_computed.set)
    with communicating(rank):
        found = overlapping.run(program(1), 0)
    for x, y in zip(found, overlapping.expected(0, 1), strict=True):
        np.testing.assert_array_equal(x, y)


def test_what_goes_wrong_is_raised_where_the_result_is_awaited(monkeypatch: pytest.MonkeyPatch):
    rank = Slow(fails=True)
    monkeypatch.setattr(LOOK, "then", rank.has_computed.set)
    with communicating(rank), pytest.raises(CommunicationError, match="rank 1 failed"):
        overlapping.run(program(1), 0)


def test_local_threads_sum_when_the_array_is_there():
    executable = program(2)
    found = ThreadGroup(2).run(lambda rank: overlapping.run(executable, rank.rank))
    for rank, own in enumerate(found):
        for x, y in zip(own, overlapping.expected(rank, 2), strict=True):
            np.testing.assert_array_equal(x, y)


def test_collectives_take_place_in_the_order_in_which_they_begin():
    rank = Slow()
    calls = {"combiner": "add", "groups": "0"}
    begin, await_, now = (collectives.FUNCTIONS[name] for name in ("begin", "await", "all_reduce"))
    x, y, z = (np.ones(n, np.float32) for n in (1, 2, 3))
    with communicating(rank):
        tickets = [begin(a, collective="all_reduce", **calls) for a in (x, y)]
        rank.has_computed.set()
        assert now(z, **calls).shape == (3,)
        assert rank.summed == [(1,), (2,), (3,)]
        assert [await_(t, a).shape for t, a in zip(tickets, (x, y), strict=True)] == [(1,), (2,)]


def test_none_takes_place_behind_one_that_failed():
    rank = Slow(fails=True)
    rank.has_computed.set()
    calls = {"combiner": "add", "groups": "0"}
    begin, now = (collectives.FUNCTIONS[name] for name in ("begin", "all_reduce"))
    x = np.ones(1, np.float32)
    with communicating(rank):
        for _ in range(2):
            begin(x, collective="all_reduce", **calls)
        with pytest.raises(CommunicationError, match="rank 1 failed"):
            now(x, **calls)
    assert rank.summed == [(1,)]


@pytest.mark.slow
def test_processes_of_mpi_compute_while_they_communicate():
    done = test_communication.job(2, module="tests.runtime.communication.overlapping")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("checked") == 2


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3])
def test_processes_compute_while_they_communicate(size: int):
    for done in test_tcp.job(size, module="tests.runtime.communication.overlapping"):
        assert done.returncode == 0, done.stderr
        assert "checked" in done.stdout


@pytest.mark.slow
def test_a_rank_that_fails_while_others_communicate_ends_the_job():
    for done in test_tcp.job(2, "raise", module="tests.runtime.communication.overlapping"):
        assert done.returncode != 0
        assert "checked" not in done.stdout
        assert "a fault of the last rank" in done.stderr or "lost rank 1" in done.stderr


@pytest.mark.slow
def test_a_rank_that_fails_while_others_communicate_ends_the_job_of_mpi():
    done = test_communication.job(2, "raise", module="tests.runtime.communication.overlapping")
    assert done.returncode != 0
    assert "checked" not in done.stdout
    assert "a fault of the last rank" in done.stderr
