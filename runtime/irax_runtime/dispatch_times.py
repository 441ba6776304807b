"""The time of a dispatch: how long a program takes that does nothing else, over and over."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import iree.runtime as rt

if TYPE_CHECKING:
    from irax_runtime.iree.cpu import CpuDevice

_ROUNDS = 5
_LONG_ENOUGH = 2e-3
"""Seconds of a measurement: clocks and calls do not count there."""
_MOST_RUNS = 1 << 14


def seconds(device: CpuDevice, artefact: bytes, entry: str, driver: str) -> float:
    """The least time of one run of a dispatch, by the driver `sync` (the calling thread) or `task`.

    The function `entry` takes a number, and runs the dispatch as often. Its arrays are not filled,
    so what depends on their elements, such as the end of a loop, may take another time.

    Raises:
        ValueError: the bytes are not such a program.
    """
    executable = device.load(artefact, entry)

    def run(count: int) -> float:
        inputs: Any = rt.VmVariantList(1)
        inputs.push_int(count)
        start = time.perf_counter()
        executable.invoke_on(driver, inputs, rt.VmVariantList(0))
        return time.perf_counter() - start

    run(1)
    count = 1
    while (took := run(count)) < _LONG_ENOUGH and count < _MOST_RUNS:
        count *= 2 if took > _LONG_ENOUGH / 8 else 8
    return min(run(count) for _ in range(_ROUNDS)) / count
