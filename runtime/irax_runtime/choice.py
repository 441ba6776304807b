"""The choice of a program's driver by the times that its calls take.

Several threads halve the time of a program on a machine that has nothing else to do. Where other
processes are busy, each thread waits for its turn, and the calling thread alone is often faster.
The compiler cannot know that, and it changes.
"""

from __future__ import annotations

import threading
from math import inf

FEW, MANY = 16, 512
"""The numbers of calls by the fastest driver before a trial of another: at first, and at most."""
TRIAL = 6
"""The number of calls of a trial. The first does not count: it is a cold start."""
_WEIGHT, _OUTLIER = 0.1, 1.5
"""The weight of a call's time in the mean, and the multiple of the mean that it counts as at most:
a call that was interrupted tells nothing of the others.
"""
_SLOWER = 1.1
"""The multiple of another driver's time from which the usual one is slower than that."""


class Choice:
    """The driver for each call of a program, of several.

    The fastest one runs nearly all calls. Another has a trial when the fastest becomes slower than
    the other was, and now and then each has one, more rarely each time that it loses. The first two
    have theirs at once. Results do not depend on it: all run the same code.

    >>> choice = Choice("task", "sync")
    >>> for _ in range(100):
    ...     driver = choice.next()
    ...     choice.tell(driver, {"task": 2.0, "sync": 1.0}[driver])
    >>> choice.usual
    'sync'
    """

    def __init__(self, *drivers: str) -> None:
        self.usual = drivers[0]
        self._times = dict.fromkeys(drivers, inf)
        self._in_trial: str | None = drivers[0]
        self._trial: list[float] = []
        self._others = list(drivers[1:])  # the one that waits longest for a trial is first
        self._period = FEW
        self._left = 0
        self._lock = threading.Lock()

    def next(self) -> str:
        """Return the driver for the next call."""
        return self._in_trial or self.usual

    def tell(self, driver: str, seconds: float) -> None:
        """Take account of the time of a call."""
        with self._lock:
            if driver == self._in_trial:
                self._trial.append(seconds)
                if len(self._trial) == TRIAL:
                    self._end_trial(driver)
            elif driver == self.usual:
                self._tell_of_usual(seconds)

    def _tell_of_usual(self, seconds: float) -> None:
        time = self._times[self.usual]
        time += _WEIGHT * (min(seconds, _OUTLIER * time) - time)
        self._times[self.usual] = time
        self._left -= 1
        fastest = min(self._others, key=self._times.__getitem__)
        if time > _SLOWER * self._times[fastest]:
            self._in_trial = fastest
        elif self._left <= 0:
            self._in_trial = self._others[0]

    def _end_trial(self, driver: str) -> None:
        self._times[driver] = time = sorted(self._trial[1:])[TRIAL // 2 - 1]
        self._trial.clear()
        if driver == self.usual:
            self._in_trial = self._others[0]
            return
        self._in_trial = None
        self._others.remove(driver)
        if time < self._times[self.usual]:
            self._others.append(self.usual)
            self.usual = driver
            self._period = FEW
        else:
            self._others.append(driver)
            self._period = min(2 * self._period, MANY)
        self._left = self._period
