"""Loops that need not end: short ones run in the calling thread, others where Ctrl-C works."""

import threading

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax_runtime import interruptible, meter

LONG = meter.BRIEF // 4
"""Steps that are estimated to take more than `meter.BRIEF`."""


def steps(n):
    """Count to n by a loop that need not end; its sines take longer than the estimate says."""

    def step(carried):
        count, x, y = carried
        return count + 1, jnp.sin(x + y), jnp.sin(y - x)

    return lax.while_loop(
        lambda carried: (carried[0] < n) & (carried[1] < 2), step, (0, 0.5, 0.25)
    )[0]


@irax.jit
def alone(n):
    return steps(n)


@irax.jit
def within_another(n):
    return lax.fori_loop(0, 3, lambda i, total: total + steps(n), 0)


@pytest.fixture
def handed_over(monkeypatch):
    """The work that another thread was to do."""
    works = []

    def run(work, *arguments):
        works.append(work.__name__)
        return work(*arguments)

    monkeypatch.setattr(interruptible, "run", run)
    return works


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("function", "times"), [(alone, 1), (within_another, 3)])
def test_a_long_call_starts_anew_and_short_ones_do_not_wait(function, times, handed_over):
    for n, by_another in [(7, 0), (LONG, 1), (LONG, 2), (8, 3), (9, 3)]:
        assert int(function(n)) == times * n
        assert handed_over.count("invoke") == by_another


def test_lanes_stop_when_all_are_done(handed_over):
    numbers = np.array([3, LONG, 5], np.int32)
    np.testing.assert_array_equal(irax.jit(irax.vmap(steps))(numbers), numbers)
    assert handed_over.count("invoke") == 1


def test_other_threads_have_no_limit():
    assert int(alone(1)) == 1
    found = []
    thread = threading.Thread(target=lambda: found.append(int(alone(LONG))))
    thread.start()
    thread.join()
    assert found == [LONG]


class Context:
    """A context whose programs take time from its meter."""

    def __init__(self, left):
        self.left = left

    def invoke(self, nanoseconds, inputs, outputs):
        self.left.value -= nanoseconds


def test_a_meter_that_ran_out_is_full_again():
    left = meter.new()
    free = [(Context(left), left)]
    for nanoseconds, is_empty in [(meter.BRIEF, True), (meter.BRIEF - 1, False)]:
        assert meter.invoking(free, lambda: free[0], nanoseconds)([], []) == is_empty
        assert left.value > 1000 * meter.BRIEF
        assert len(free) == 1


@pytest.mark.slow
def test_loops_over_constants_run_in_calls():
    """IREE would run them when it loads the program, before that has a meter."""
    keys = irax.random.split(irax.random.key(3), 7)

    def draw():
        return irax.vmap(lambda key: irax.random.gamma(key, 2.5, (50, 2)))(keys)

    found = irax.jit(lambda x: draw() + x)(np.float32(1))
    np.testing.assert_allclose(found, np.asarray(draw()) + 1, rtol=1e-4)
