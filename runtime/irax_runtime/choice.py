"""The choice of a program's driver by the times that its calls take.

Several threads halve the time of a program on a machine that has nothing else to do. Where other
processes are busy, each thread waits for its turn, and the calling thread alone is often faster.
The compiler cannot know that, and it changes.
"""

from __future__ import annotations

from math import inf
from statistics import median

FEW, MANY = 16, 512
"""The numbers of calls by the faster driver before a trial of the other: at first, and at most."""
TRIAL = 6
"""The number of calls of a trial. The first does not count: it is a cold start."""
_WEIGHT, _OUTLIER = 0.1, 1.5
"""The weight of a call's time in the mean, and the multiple of the mean that it counts as at most:
a call that was interrupted tells nothing of the others.
"""


class Choice:
    """The driver for each call of a program, of two.

    The faster one runs nearly all calls. The other has a trial when the faster becomes slower than
    the other was, and now and then, more rarely each time that it loses. Results do not depend on
    it: both run the same code.

    >>> choice = Choice("task", "sync")
    >>> for _ in range(100):
    ...     driver = choice.next()
    ...     choice.tell(driver, {"task": 2.0, "sync": 1.0}[driver])
    >>> choice.usual
    'sync'
    """

    def __init__(self, first: str, second: str) -> None:
        self.usual = first
        self._other = second
        self._mean = self._others_mean = inf
        self._trial: list[float] = []
        self._period = FEW
        self._left = TRIAL

    def next(self) -> str:
        """Return the driver for the next call."""
        return self.usual if self._left > 0 else self._other

    def tell(self, driver: str, seconds: float) -> None:
        """Take account of the time of a call."""
        if driver == self.usual:
            self._tell_of_usual(seconds)
        else:
            self._trial.append(seconds)
            if len(self._trial) >= TRIAL:
                self._end_trial(median(self._trial[1:]))

    def _tell_of_usual(self, seconds: float) -> None:
        self._left -= 1
        if self._mean == inf:
            self._mean = seconds if self._left < TRIAL - 1 else inf
            return
        self._mean += _WEIGHT * (min(seconds, _OUTLIER * self._mean) - self._mean)
        if self._mean > self._others_mean:
            self._left = 0

    def _end_trial(self, time: float) -> None:
        self._trial.clear()
        if time < self._mean:
            self.usual, self._other = self._other, self.usual
            self._mean, self._others_mean = time, self._mean
            self._period = FEW
        else:
            self._others_mean = time
            self._period = min(2 * self._period, MANY)
        self._left = self._period
