"""Calls that return before their work is done: order, errors, memory, interrupts, forks, exits."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_runtime import in_flight, interruptible
from irax_runtime.device import OutOfMemoryError
from irax_runtime.iree.cpu import cpu

X = np.random.default_rng(0).standard_normal((300, 300)).astype(np.float32) / 20


@pytest.fixture(autouse=True)
def all_calls_are_long(monkeypatch):
    """Calls take a place in the queue from the first one on, however brief they are."""
    monkeypatch.setattr(in_flight, "LONG", -1.0)
    monkeypatch.setattr(in_flight, "_SAMPLES", 0)
    monkeypatch.setattr(in_flight, "_VAIN", 1 << 30)
    irax.clear_caches()
    yield
    irax.effects_barrier()


def after_first(function, *arguments):
    """Return a jitted function whose next calls go into the queue."""
    jitted = irax.jit(function)
    jitted(*arguments)
    return jitted


def test_examples_run(monkeypatch):
    monkeypatch.undo()
    assert doctest.testmod(in_flight).failed == 0
    assert doctest.testmod(in_flight).attempted > 0


def test_a_call_returns_before_its_work_is_done():
    double = after_first(lambda x: x * 2, X)
    with cpu().in_flight._queue._turn:
        given = X.copy()
        y = double(double(given))
        assert not y.is_ready()
        assert y.shape == X.shape
        given[:] = 0  # what the call took stays
    assert y.block_until_ready() is y
    assert y.is_ready()
    np.testing.assert_array_equal(y, 4 * X)


@pytest.mark.parametrize(
    "use",
    [np.asarray, jnp.sum, lambda y: y[0, 0].item(), lambda y: y.tolist(), lambda y: y + 1,
     lambda y: np.from_dlpack(y), irax.device_get, repr, lambda y: bool(jnp.all(y == y)),
     lambda y: y.unsafe_buffer_pointer() != 0],
)  # fmt: skip
def test_every_use_waits(use):
    double = after_first(lambda x: x * 2, X)
    expected = use(jnp.asarray(2 * X))
    got = use(double(X))
    if not isinstance(expected, bool):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.slow
def test_chains_need_no_round_trip():
    """Nor do brief programs that use what is being computed, captured arrays, or many arguments."""
    step = after_first(lambda x, y: (x + y, x * y), X, X)
    total = after_first(lambda *xs: jnp.sum(jnp.stack(xs)), *[X] * 12)
    with cpu().in_flight._queue._turn:
        x = y = X
        found = []
        for _ in range(3):
            x, y = step(x, y)
            found += [x, y]
        result = total(*found, *found)
        assert not result.is_ready()
    x = y = X
    expected = 0.0
    for _ in range(3):
        x, y = x + y, x * y
        expected += 2.0 * (x.sum(dtype=np.float64) + y.sum(dtype=np.float64))
    np.testing.assert_allclose(result, expected, rtol=1e-3)


def first_and_last(*xs: irax.Array) -> irax.Array:
    return xs[0] + xs[-1]


def test_brief_programs_that_need_what_is_being_computed_are_queued():
    """So are those whose arguments are packed, and those that are given views."""
    double = after_first(lambda x: x * 2, X)
    brief = [irax.jit(first_and_last) for _ in range(2)]
    plain = jnp.asarray(X)
    for function, count in zip(brief, (1, 12), strict=True):
        function(*[plain] * count)
    for executable in cpu().executables:
        executable._cost.is_long, executable._cost.is_brief = False, True
    double = after_first(lambda x: x * 4, X)
    results = []
    for function, count in zip(brief, (1, 12), strict=True):
        for _ in range(3):
            with cpu().in_flight._queue._turn:
                x = double(plain)
                results += [
                    function(*[plain] * (count - 1), x),
                    function(x, *[plain] * (count - 1)),
                ]
                assert not any(y.is_ready() for y in results[-2:])
            results.append(function(*[x] * count))  # once it is there
            x.block_until_ready()
            results.append(function(*[x] * count))
    for i, y in enumerate(results):
        is_one = i < 12
        expected = 8 * X if is_one or i % 4 > 1 else 5 * X
        np.testing.assert_array_equal(y, expected)


def test_the_queue_is_bounded():
    double = after_first(lambda x: x * 2, X)
    y = jnp.asarray(X)
    for i in range(100):
        y = double(y) * 0.5 if i % 7 == 6 else double(y)
        assert len(cpu().in_flight._queue._calls) <= in_flight.MOST
    assert np.isfinite(y).all()


def test_results_that_nobody_asks_for_keep_no_memory():
    """A loss of each step does not keep the step's parameters."""
    step = after_first(lambda x: (x * 0.5, x.sum()), X)
    x, losses, states = jnp.asarray(X), [], []
    for _ in range(10):
        x, loss = step(x)
        states.append(weakref.ref(x))
        losses.append(loss)
    irax.effects_barrier()
    assert sum(state() is not None for state in states) == 1
    assert all(loss._buffer.ref.call is None for loss in losses)
    np.testing.assert_allclose(losses[3], X.sum() / 8, rtol=1e-4)


# ---- errors --------------------------------------------------------------------------------------


@pytest.fixture
def too_large():
    """A program that fails if its argument says so: the memory of a result is not to be had."""

    def function(x):
        return jnp.broadcast_to(x, (1 << 22, 1 << 24)) + 1, x

    return irax.jit(function)


def test_errors_come_up_where_a_value_is_used(too_large):
    with pytest.raises(OutOfMemoryError):  # the first call is not in the queue
        irax.block_until_ready(too_large(1.0))
    with pytest.raises(OutOfMemoryError):
        irax.block_until_ready(too_large(1.0))
    executable = next(iter(x for x in cpu().executables if "4194304,16777216" in str(x.results)))
    executable._cost.is_long, executable._cost.is_brief = True, False
    plus = after_first(lambda x: x + 1, jnp.float32(1.0))
    with cpu().in_flight._queue._turn:
        large, x = too_large(1.0)  # the line of the call
        line = sys._getframe().f_lineno - 1
        y = plus(x)
    for array in (large, x, y, y):
        with pytest.raises(OutOfMemoryError, match="does not have the memory") as caught:
            array.block_until_ready()
        notes = "\n".join(caught.value.__notes__)
        assert notes.count("the call was made") == 1
        assert f"{Path(__file__)}:{line}" in notes
    assert x.is_ready()
    with pytest.raises(OutOfMemoryError):
        float(y)
    irax.effects_barrier()  # tells nothing: nobody uses the values
    assert float(irax.jit(lambda x: x + 1)(1.0)) == 2


# ---- memory that is given up ---------------------------------------------------------------------


def test_a_donated_array_is_gone_at_once_and_read_in_order():
    step = irax.jit(lambda x, i: x.at[i].set(7.0), donate_argnums=0)
    total = after_first(lambda x: x.sum(), jnp.zeros(3000))
    step(jnp.zeros(3000), 0)
    x = step(jnp.zeros(3000), 0)
    totals, old = [], x
    with cpu().in_flight._queue._turn:
        for i in range(1, 4):
            totals.append(total(x))
            old, x = x, step(x, i)
            assert old.is_deleted()
            assert not x.is_deleted()
        with pytest.raises(RuntimeError, match="donated"):
            np.asarray(old)
    assert [float(t) for t in totals] == [7, 14, 21]
    assert np.asarray(x)[:5].tolist() == [7, 7, 7, 7, 0]


def test_a_brief_donated_step_waits_for_calls_that_read(monkeypatch):
    step = irax.jit(lambda x, i: x.at[i].set(7.0), donate_argnums=0)
    total = after_first(lambda x: x.sum(), jnp.zeros(3000))
    x = step(step(jnp.zeros(3000), 0), 0).block_until_ready()
    for executable in cpu().executables:
        if executable._in_place:
            executable._cost.is_long, executable._cost.is_brief = False, True
    with cpu().in_flight._queue._turn:
        before = total(x)
        x = step(x, 1)
        assert not x.is_ready()
    assert float(before) == 7
    assert float(total(x)) == 14


def test_deleted_arrays_stay_with_calls_that_read_them():
    double = after_first(lambda x: x * 2, X)
    with cpu().in_flight._queue._turn:
        x = double(X)
        y = double(x)
        x.delete()
        z = jnp.asarray(X)
        w = double(z)
        z.delete()
    np.testing.assert_array_equal(y, 4 * X)
    np.testing.assert_array_equal(w, 2 * X)
    with pytest.raises(RuntimeError, match="deleted"):
        np.asarray(x)


# ---- other threads, callbacks, options -----------------------------------------------------------


def test_threads_share_results():
    double = after_first(lambda x: x * 2, X)
    wrong = []

    def work():
        rng = np.random.default_rng(threading.get_ident() % 1000)
        for _ in range(30):
            y = double(double(X))
            if rng.random() < 0.5:
                y = double(shared[rng.integers(len(shared))])
                if not np.array_equal(y, 4 * X):
                    wrong.append(y)
            elif not np.array_equal(y, 4 * X):
                wrong.append(y)

    shared = [double(X) for _ in range(4)]
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    work()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not wrong


def test_callbacks_run_in_order_before_the_call_returns():
    seen = []

    def function(x):
        irax.debug.callback(lambda v: seen.append(float(v)), x.sum())
        return x + 1

    told = after_first(function, jnp.zeros(3))
    double = after_first(lambda x: x * 2, jnp.zeros(3))
    seen.clear()
    x = jnp.ones(3)
    for _ in range(4):
        x = double(told(x))
    assert len(seen) >= 4 - 1
    irax.effects_barrier()
    assert seen == [3, 12, 30, 66]


def test_functions_of_numpy_see_the_callers_context():
    solve = after_first(jnp.linalg.eigvals, X[:8, :8])
    values = solve(X[:8, :8])
    np.testing.assert_allclose(
        np.sort_complex(values), np.sort_complex(np.linalg.eigvals(X[:8, :8])), atol=1e-5
    )


def test_the_option_lets_calls_wait():
    double = after_first(lambda x: x * 2, X)
    irax.config.update("jax_cpu_enable_async_dispatch", False)
    try:
        assert double(X).is_ready()
    finally:
        irax.config.update("jax_cpu_enable_async_dispatch", True)
    with cpu().in_flight._queue._turn:
        assert not double(X).is_ready()


def test_debug_nans_and_profiles_see_results():
    log = after_first(jnp.log, jnp.ones(4))
    with irax.debug_nans(True), pytest.raises(FloatingPointError):
        log(-jnp.ones(4))


# ---- the cost ------------------------------------------------------------------------------------


def test_tiny_programs_are_not_queued(monkeypatch):
    monkeypatch.undo()
    irax.clear_caches()
    add = irax.jit(lambda x: x + 1)
    x = jnp.ones(16)
    for _ in range(10):
        x = add(x)
        assert type(x._buffer.ref) is not in_flight.Pending
    assert float(x[0]) == 11


def test_programs_that_are_awaited_at_once_are_not_queued(monkeypatch):
    monkeypatch.undo()
    cost = in_flight.Cost(varies=True, is_long=True)
    queued = []
    for _ in range(400):
        queued.append(cost.pays())
        if queued[-1]:
            cost.tell_wait(in_vain=True)
    assert queued[:4] == [True] * 4
    assert sum(queued) < 12
    while not cost.pays():
        pass
    cost.tell_wait(in_vain=False)
    assert all(cost.pays() for _ in range(100))


def test_calls_of_many_arrays_take_longer_until_they_are_queued(monkeypatch):
    monkeypatch.undo()
    few, many = (in_flight.Cost(varies=True, arrays=n) for n in (2, 1000))
    for cost in (few, many):
        cost.tell(1e-3)
    assert few.pays()
    assert not many.pays()
    many.tell(4e-3)
    assert many.pays()


# ---- processes -----------------------------------------------------------------------------------


def output(code: str) -> list[str]:
    start = """
import os, signal, sys, threading, time, numpy as np, irax, irax.numpy as jnp
from irax_runtime.iree.cpu import cpu
from irax import lax
X = jnp.ones((400, 400)) / 400
step = irax.jit(lambda x, n: lax.fori_loop(0, n, lambda i, c: jnp.tanh(c @ X) + x * 1e-3, x))
step(X, 1).block_until_ready()
"""
    done = subprocess.run(
        [sys.executable, "-c", start + code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (7, "")
    return done.stdout.splitlines()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "calls", ["step(X, 100_000)", "[step(X, 1000) for _ in range(5)]"], ids=["long", "many"]
)
def test_the_process_ends_with_calls_in_flight(calls):
    start = time.perf_counter()
    assert output(f"x = {calls}\nprint('end', flush=True)\nsys.exit(7)") == ["end"]
    assert time.perf_counter() - start < 60


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_the_results():
    code = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of forks, from Python 3.12 on
x = [step(X, 200 + n) for n in range(4)]
pid = os.fork()
total = [float(v.sum()) for v in x] + [float(step(x[0], 3).sum())]
if pid:
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    print(len(set(total)) > 1)
os._exit(7 if pid else 0)
"""
    code = code.replace("os._exit", "sys.stdout.flush(); os._exit")
    assert output(code) == ["0", "True"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
def test_an_interrupt_ends_the_wait_alone():
    """The call goes on; others do not wait for it, and its result is there later."""
    code = """
def press():
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)

x = step(X, 2000)
y = step(X, 3)
threading.Thread(target=press).start()
try:
    while True:
        x.block_until_ready()
        x = step(x, 2000)
except KeyboardInterrupt:
    print("interrupted")
z = step(X, 3)
print(np.array_equal(np.asarray(y), np.asarray(z)))
again = lambda c: jnp.abs(jnp.cos(c))
endless = irax.jit(lambda x: lax.while_loop(lambda c: c[0] >= 0.0, again, x))
w = endless(jnp.ones(3))
for _ in range(2):
    threading.Thread(target=press).start()
    try:
        print(w)
    except KeyboardInterrupt:
        print("interrupted")
z = step(X, 3)
print(np.array_equal(np.asarray(y), np.asarray(z)), w.is_ready())
sys.stdout.flush()
sys.exit(7)
"""
    assert output(code) == ["interrupted", "True", "interrupted", "interrupted", "True False"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
@pytest.mark.parametrize("alarm", [[], ["alarm"]], ids=["quiet", "alarm"])
def test_random_calls_of_several_threads(alarm):
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("random_calls.py"), "8", *alarm],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


def test_a_second_interrupt_loses_no_queue(monkeypatch):
    """Calls in a queue that is left are known before any go into the next one, else a donated array
    may be overwritten that is still to be read.
    """
    device = in_flight.InFlight()
    queue, leave, interrupts = device._queue, in_flight.Queue.leave, [KeyboardInterrupt()]

    def interrupted(self):
        if interrupts:
            raise interrupts.pop()
        leave(self)

    class Next(in_flight.Queue):
        def __init__(self):
            assert queue._is_left
            assert queue in device._left
            super().__init__()

    monkeypatch.setattr(in_flight.Queue, "leave", interrupted)
    monkeypatch.setattr(in_flight, "Queue", Next)
    with pytest.raises(ZeroDivisionError), device._leaving_when_interrupted():
        raise ZeroDivisionError
    assert not interrupts
    assert isinstance(device._queue, Next)
    assert device._left == [queue]


def test_all_threads_of_a_queue_end():
    """A start that is interrupted may have begun a thread; the next call starts another."""
    queue = in_flight.Queue()
    threads = [threading.Thread(target=queue._work, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    queue.leave()
    for thread in threads:
        thread.join(5)
    assert not any(thread.is_alive() for thread in threads)


def test_a_queue_that_is_left_while_others_are_looked_through_is_kept():
    device, busy = in_flight.InFlight(), in_flight.Queue()
    busy._calls.append(None)
    left = device._left
    left.append(in_flight.Queue())
    assert not device.is_unordered
    left.append(busy)  # by a thread that was about to
    assert device.is_unordered
    busy._calls.clear()


def test_what_interrupts_the_start_of_a_thread_is_raised(monkeypatch):
    """Python's `threading` raises a KeyError in its place, if the thread has begun."""

    def start(self):
        try:
            raise ZeroDivisionError
        except ZeroDivisionError:
            del {}[self]

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(ZeroDivisionError):
        interruptible.started(print, "name")


def test_a_helper_that_was_interrupted_when_it_began_ends(monkeypatch):
    begun = []

    def start(run, name):
        begun.append(threading.Thread(target=run, name=name, daemon=True))
        begun[0].start()
        raise ZeroDivisionError

    monkeypatch.setattr(interruptible, "started", start)
    with pytest.raises(ZeroDivisionError):
        interruptible._Helper()
    begun[0].join(5)
    assert not begun[0].is_alive()
