"""The policy of a thread that waits for workers."""

from __future__ import annotations

import os
from typing import Any

import pytest

from irax_runtime.iree import scheduling
from irax_runtime.iree.cpu import cpu
from irax_runtime.iree.scheduling import Placement, without_preemption

pytestmark = pytest.mark.skipif(not hasattr(os, "SCHED_BATCH"), reason="needs Linux's policies")


def test_that_the_policy_holds_during_a_call() -> None:
    seen: list[Any] = []
    without_preemption(lambda a, b: seen.append((a, b, os.sched_getscheduler(0))))(1, 2)
    assert seen == [(1, 2, os.SCHED_BATCH)]
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_that_a_failure_ends_it() -> None:
    def fail(a: Any, b: Any) -> None:
        raise RuntimeError("as planned")

    with pytest.raises(RuntimeError, match="as planned"):
        without_preemption(fail)(1, 2)
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_that_another_policy_is_kept() -> None:
    seen: list[int] = []
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    try:
        without_preemption(lambda a, b: seen.append(os.sched_getscheduler(0)))(1, 2)
        assert [*seen, os.sched_getscheduler(0)] == [os.SCHED_BATCH] * 2
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def test_that_a_refusal_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    seen: list[int] = []
    without_preemption(lambda a, b: seen.append(a + b))(1, 2)
    assert seen == [3]


class Threads:
    """The processors that threads may use, on a machine with two."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.processors: dict[int, set[int]] = {}
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {4, 7})
        monkeypatch.setattr(os, "sched_setaffinity", self.processors.__setitem__)


def test_that_workers_are_fixed_to_different_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = Threads(monkeypatch)
    placement = Placement({30, 20})
    placement.free()
    assert threads.processors == {}
    placement.fix()
    assert threads.processors == {20: {4}, 30: {7}}
    placement.free()
    assert threads.processors == {20: {4, 7}, 30: {4, 7}}


def test_that_a_forked_process_places_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = Threads(monkeypatch)
    placement = Placement({30, 20})
    placement.forget()
    placement.fix()
    assert threads.processors == {}


@pytest.mark.parametrize(("count", "expected"), [(0, False), (1, False), (2, True), (3, False)])
def test_that_a_choice_needs_a_processor_for_each_worker(
    monkeypatch: pytest.MonkeyPatch, count: int, expected: bool
) -> None:
    Threads(monkeypatch)
    assert Placement(set(range(20, 20 + count))).has_choice == expected


def test_that_the_workers_of_a_device_are_found() -> None:
    cpu()
    assert len(scheduling.workers()) >= 1


def test_that_workers_are_waited_for_until_all_have_names(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = iter([{1}, {1, 2}, {1, 2, 3}])
    monkeypatch.setattr(scheduling, "workers", lambda: next(seen))
    assert scheduling.started({1}, 2) == {2, 3}


def test_that_none_are_taken_where_some_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduling, "workers", lambda: {1, 2})
    monkeypatch.setattr(scheduling, "_PAUSE", 0.0)
    assert scheduling.started({1}, 2) == set()
