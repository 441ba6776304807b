"""The time that the machine needs at least: bytes over bandwidth, or flops over the peak.

Both are measured, by PyTorch, in the same run: bandwidth by sums of two arrays, for several sizes,
since caches are faster than memory; the peak by products of square matrices.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial


@dataclass(frozen=True)
class Rates:
    """The measured rates of a machine."""

    bandwidth: dict[int, float]
    """Bytes a second, by the number of bytes that are read and written."""
    flops: dict[str, float]
    """Additions and multiplications a second, by dtype."""

    def least(self, bytes_moved: float, flops: float, dtype: str) -> float:
        """The seconds that so many bytes and flops take at least."""
        nearest = min(self.bandwidth, key=lambda size: abs(size / max(bytes_moved, 1) - 1))
        return max(bytes_moved / self.bandwidth[nearest], flops / self.flops[dtype])


def measure(threads: int, processor_time: bool) -> Rates:
    """Measure the rates of this machine with PyTorch, by the clock or on processors."""
    least = partial(least_seconds, time.process_time if processor_time else time.perf_counter)
    torch = importlib.import_module("torch")
    torch.set_num_threads(threads)
    bandwidth: dict[int, float] = {}
    for power in range(20, 29, 2):
        x, y, out = (torch.ones(2**power // 12) for _ in range(3))
        bandwidth[2**power] = 2**power / least(lambda x=x, y=y, out=out: torch.add(x, y, out=out))
    flops: dict[str, float] = {}
    for name in ("float32", "bfloat16"):
        a = torch.ones(2048, 2048, dtype=getattr(torch, name))
        flops[name] = 2.0 * 2048**3 / least(lambda a=a: a @ a)
    a = torch.ones(2048, 2048, dtype=torch.int8)
    flops["int8"] = 2.0 * 2048**3 / least(lambda: torch._int_mm(a, a))
    return Rates(bandwidth, flops)


def least_seconds(clock: Callable[[], float], run: Callable[[], object]) -> float:
    """The least time of some runs."""
    times: list[float] = []
    for _ in range(10):
        before = clock()
        run()
        times.append(clock() - before)
    return min(times)
