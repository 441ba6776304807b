"""Random chains of calls in flight, in several threads: `python random_calls.py SECONDS [alarm]`.

They share a queue; arrays are donated, deleted, and looked at. With `alarm`, a timer's handler
raises exceptions in the main thread all the time, at whatever it does. Each value is known from
NumPy.
"""

from __future__ import annotations

import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import irax
import irax.numpy as jnp
from irax import lax
from irax_runtime import in_flight

SIZE = 1 << 15  # enough for donated arrays to be overwritten
MOST = 12

Pair = tuple[Any, np.ndarray]
"""An array, and what it must be."""


class Alarm(Exception):
    """The timer's."""


def halved(x: Any) -> Any:
    return x * 0.5 - 0.25


def turned(x: Any) -> Any:
    return x[::-1] * 0.5


def looped(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda _, c: c * 0.5, x)


def until(x: Any) -> Any:
    return lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 0.5), (0, x))[1]


PLAIN: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (irax.jit(halved), halved),
    (irax.jit(turned), turned),
    (irax.jit(looped), lambda x: x / 8),
    (irax.jit(until), lambda x: x / 8),
]
MEAN = irax.jit(lambda x, y: (x + y) * 0.5)
DONATED = irax.jit(halved, donate_argnums=0)
UPDATED = irax.jit(lambda x, i: x.at[i].set(3.0), donate_argnums=0)


def check(pairs: list[Pair]) -> None:
    for array, expected in pairs:
        np.testing.assert_allclose(array, expected, atol=1e-4, rtol=1e-4)


class Worker:
    """The steps of a thread, by numbers that it draws."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.pairs: list[Pair] = []
        self.error: BaseException | None = None

    def run(self, end: float) -> None:
        try:
            while time.time() < end:
                self.step()
            check(self.pairs)
        except AssertionError as error:
            self.error = error
        except RuntimeError as error:
            self.error = error

    def step(self) -> None:
        if len(self.pairs) < 3:
            new = np.random.default_rng(self.draw.randrange(1 << 30)).integers(-8, 8, SIZE)
            values = new.astype(np.float32)
            self.pairs.append((jnp.asarray(values), values))
            return
        array, values = self.draw.choice(self.pairs)
        kind = self.draw.randrange(8)
        if kind < 3:
            function, of_numpy = self.draw.choice(PLAIN)
            self.pairs.append((function(array), of_numpy(values)))
        elif kind == 3:
            other, others = self.draw.choice(self.pairs)
            self.pairs.append((MEAN(array, other), (values + others) * 0.5))
        elif kind == 4:
            self.forget(array)
            self.pairs.append((DONATED(array), halved(values)))
        elif kind == 5:
            self.forget(array)
            i = self.draw.randrange(SIZE)
            new = values.copy()
            new[i] = 3
            self.pairs.append((UPDATED(array, i), new))
        elif kind == 6:
            given = values.copy()
            self.pairs.append((PLAIN[0][0](given), halved(values)))
            given[:] = 99
        elif self.draw.random() < 0.5:
            self.forget(array)
            array.delete()
        else:
            array.block_until_ready()
        while len(self.pairs) > MOST:
            check([self.pairs.pop(self.draw.randrange(len(self.pairs)))])

    def forget(self, array: Any) -> None:
        self.pairs = [pair for pair in self.pairs if pair[0] is not array]


def interrupted(worker: Worker, end: float) -> int:
    """Run steps in the main thread, and go on after each exception of the timer's."""

    is_on = False

    def handler(*_: Any) -> None:
        if is_on:
            raise Alarm

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.037)
    count = 0
    while time.time() < end:
        try:
            is_on = True
            worker.step()
            is_on = False
        except Alarm:
            is_on = False
            count += 1
        except RuntimeError as error:  # an overwritten array whose call was interrupted
            is_on = False
            if "was interrupted" not in str(error) and "donated" not in str(error):
                raise
            worker.pairs = []
    signal.setitimer(signal.ITIMER_REAL, 0)
    return count


def main() -> None:
    in_flight.LONG = -1.0
    array = jnp.zeros(SIZE)
    for function, _ in PLAIN:
        function(array)
    # An exception in an import, which NumPy does late, can leave its lock to nobody.
    check([(array, np.random.default_rng(0).random(SIZE) * 0)])
    MEAN(array, array)
    DONATED(jnp.zeros(SIZE))
    UPDATED(jnp.zeros(SIZE), 0)
    workers = [Worker(seed) for seed in range(4)]
    end = time.time() + float(sys.argv[1])
    threads = [threading.Thread(target=w.run, args=(end,), daemon=True) for w in workers[1:]]
    for thread in threads:
        thread.start()
    if "alarm" in sys.argv:
        assert interrupted(workers[0], end) > 0
    else:
        workers[0].run(end)
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    errors = [worker.error for worker in workers if worker.error is not None]
    assert not errors, errors
    irax.effects_barrier()
    end, queues = time.time() + 20, threads
    while len(queues) > 1 and time.time() < end:
        time.sleep(0.1)
        queues = [t for t in threading.enumerate() if t.name == "irax queue"]
    assert len(queues) <= 1, queues
    print("right")


if __name__ == "__main__":
    main()
