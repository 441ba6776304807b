"""The most that this machine does: arithmetic, transcendental functions and bytes in a second.

Measured by small programs, each of one dispatch, and kept in the cache of compiled programs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from irax_compiler import api, cache, mlir
from irax_compiler.cost import Cost
from irax_compiler.iree.dispatches import dispatched
from irax_runtime import threads
from irax_tools.cost.measure import AWAKE, TARGET, timed

_VERSION = "peaks 3"
_SIDE = 768
"""Rows and columns of the matrices that are multiplied."""
_SIZES = (1 << 10, 1 << 13, 1 << 16, 1 << 19, 1 << 22, 1 << 24)
"""The numbers of elements that are copied: from those that fit into the nearest cache on."""
_FUNCTIONS = ("exponential", "tanh", "sqrt")
_ELEMENTS = 1 << 18
_SUM = (
    "%z = stablehlo.constant dense<0.0> : tensor<f32> "
    "%0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : "
    "({type_}, tensor<f32>) -> tensor<f32>"
)


@dataclass(frozen=True)
class Peaks:
    """The most that the processor does, by one driver."""

    launch: float
    """The least time of a dispatch, in seconds."""
    flops: float
    """Operations of float32 in a second; of float64 half as many."""
    transcendentals: float
    """Elements of functions such as exp in a second."""
    bandwidth: Sequence[tuple[float, float]]
    """Bytes that a dispatch reads and writes, half of them each, with bytes in a second."""
    reading: Sequence[tuple[float, float]]
    """Bytes that a dispatch only reads, with bytes in a second."""

    def parts(
        self, cost: Cost, runs: float = 1, width: int = 4, written: float | None = None
    ) -> dict[str, float]:
        """The least seconds that a dispatch can take in so many runs: for its arithmetic, for its
        bytes, and to be launched. `width` is the size of its numbers in bytes, and `written` the
        bytes that it writes: half of them if that is not given.
        """
        size = cost.bytes / max(runs, 1)
        copied = _rate(self.bandwidth, size)
        read = max(copied, _rate(self.reading, size))
        share = 0.5 if written is None or not cost.bytes else written / cost.bytes
        arithmetic = cost.flops / self.flops + cost.transcendentals / self.transcendentals
        return {
            "compute": arithmetic * max(width / 4, 0.5),
            # A copy reads and writes: what reading does not take is the time of writing.
            "memory": cost.bytes * ((1 - share) / read + share * (2 / copied - 1 / read)),
            "launch": self.launch * runs,
        }

    def expected(
        self, cost: Cost, runs: float = 1, width: int = 4, written: float | None = None
    ) -> float:
        """The seconds that a dispatch takes if nothing but the machine limits it."""
        parts = self.parts(cost, runs, width, written)
        return max(parts["compute"], parts["memory"]) + parts["launch"]


def _rate(measured: Sequence[tuple[float, float]], size: float) -> float:
    """The bytes in a second for a dispatch of so many bytes."""
    sizes, rates = zip(*measured, strict=True)
    return float(np.interp(np.log(max(size, 1)), np.log(sizes), rates))


def of_machine(
    driver: str, anew: bool = False, tell: Callable[[str], None] = lambda line: None
) -> Peaks:
    """The peaks of this machine by a driver, `sync` or `task`: from the cache, or measured, which
    takes some seconds.
    """
    name = cache.key(_VERSION.encode(), [driver, str(threads.count())])
    kept = None if anew else cache.load(name)
    if kept is not None:
        return _read(kept)
    tell("measuring what this machine can do, once")
    awake: list[float] = []
    peaks = _measured(driver, awake)
    if sum(awake) < AWAKE * len(awake):
        tell("it is busy with other programs: what it can do is measured again the next time")
    else:
        cache.store(name, json.dumps(asdict(peaks)).encode())
    return peaks


def _read(kept: bytes) -> Peaks:
    found = json.loads(kept)
    tables = {name: [tuple(pair) for pair in found[name]] for name in ("bandwidth", "reading")}
    return Peaks(**{**found, **tables})


def _measured(driver: str, awake: list[float]) -> Peaks:
    """Measure the peaks; `awake` gets the shares of the time in which the measurements ran."""

    def took(body: str, type_: str, result: str | None = None) -> float:
        time, shares = _timed(driver, body, type_, result)
        awake.extend(shares)
        return time

    square = f"tensor<{_SIDE}x{_SIDE}xf32>"
    types = f"({square}, {square}) -> {square}"
    factors = "%x, %x, contracting_dims = [1] x [0]"
    product = took(f"%0 = stablehlo.dot_general {factors} : {types}", square)
    row = f"tensor<{_ELEMENTS}xf32>"
    functions = min(took(f"%0 = stablehlo.{name} %x : {row}", row) for name in _FUNCTIONS)
    bandwidth, reading = [], []
    for size in _SIZES:
        type_ = f"tensor<{size}xf32>"
        time = took(f"%0 = stablehlo.negate %x : {type_}", type_)
        bandwidth.append((8.0 * size, 8.0 * size / time))
        time = took(_SUM.format(type_=type_), type_, "tensor<f32>")
        reading.append((4.0 * size, 4.0 * size / time))
    least = took("%0 = stablehlo.negate %x : tensor<4xf32>", "tensor<4xf32>")
    return Peaks(least, 2 * _SIDE**3 / product, _ELEMENTS / functions, bandwidth, reading)


def _timed(
    driver: str, body: str, type_: str, result: str | None = None
) -> tuple[float, list[float]]:
    """The time of the dispatch of a function of an array of a type, and the shares of the time in
    which its measurements ran.
    """
    result = result or type_
    text = f"func.func @main(%x: {type_}) -> {result} {{ {body} return %0 : {result} }}"
    lowered = api.lower(mlir.parse_module(text), "main", TARGET)
    found = dispatched(lowered, TARGET)
    times, awake = zip(*(timed(found, name, driver) for name in found.programs), strict=True)
    return sum(times), list(awake)
