"""The policy of a thread that waits for workers."""

from __future__ import annotations

import os
from typing import Any

import pytest
from irax_runtime.scheduling import without_preemption

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
