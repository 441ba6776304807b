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
from irax_tools.cost.measure import TARGET, seconds

_VERSION = "peaks 2"
_SIDE = 768
"""Rows and columns of the matrices that are multiplied."""
_SIZES = (1 << 10, 1 << 13, 1 << 16, 1 << 19, 1 << 22, 1 << 24)
"""The numbers of elements that are copied: from those that fit into the nearest cache on."""
_FUNCTIONS = 1 << 18


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
    """Bytes that a dispatch reads and writes, with bytes in a second."""

    def bandwidth_of(self, size: float) -> float:
        """The bytes in a second for a dispatch of so many bytes."""
        sizes, rates = zip(*self.bandwidth, strict=True)
        return float(np.interp(np.log(max(size, 1)), np.log(sizes), rates))

    def parts(self, cost: Cost, runs: float = 1, width: int = 4) -> dict[str, float]:
        """The least seconds that a dispatch can take in so many runs: for its arithmetic, for its
        bytes, and to be launched. `width` is the size of its numbers in bytes.
        """
        size = cost.bytes / max(runs, 1)
        arithmetic = cost.flops / self.flops + cost.transcendentals / self.transcendentals
        return {
            "compute": arithmetic * max(width / 4, 0.5),
            "memory": cost.bytes / self.bandwidth_of(size),
            "launch": self.launch * runs,
        }

    def expected(self, cost: Cost, runs: float = 1, width: int = 4) -> float:
        """The seconds that a dispatch takes if nothing but the machine limits it."""
        parts = self.parts(cost, runs, width)
        return max(parts["compute"], parts["memory"]) + parts["launch"]


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
    peaks = _measured(driver)
    cache.store(name, json.dumps(asdict(peaks)).encode())
    return peaks


def _read(kept: bytes) -> Peaks:
    found = json.loads(kept)
    return Peaks(**{**found, "bandwidth": [tuple(pair) for pair in found["bandwidth"]]})


def _measured(driver: str) -> Peaks:
    square = f"tensor<{_SIDE}x{_SIDE}xf32>"
    types = f"({square}, {square}) -> {square}"
    factors = "%x, %x, contracting_dims = [1] x [0]"
    product = _seconds(driver, f"%0 = stablehlo.dot_general {factors} : {types}", square)
    row = f"tensor<{_FUNCTIONS}xf32>"
    functions = _seconds(driver, f"%0 = stablehlo.exponential %x : {row}", row)
    bandwidth = []
    for size in _SIZES:
        type_ = f"tensor<{size}xf32>"
        took = _seconds(driver, f"%0 = stablehlo.negate %x : {type_}", type_)
        bandwidth.append((8.0 * size, 8.0 * size / took))
    least = _seconds(driver, "%0 = stablehlo.negate %x : tensor<4xf32>", "tensor<4xf32>")
    return Peaks(least, 2 * _SIDE**3 / product, _FUNCTIONS / functions, bandwidth)


def _seconds(driver: str, body: str, type_: str) -> float:
    """The time of the dispatch of a function of an array of a type."""
    text = f"func.func @main(%x: {type_}) -> {type_} {{ {body} return %0 : {type_} }}"
    lowered = api.lower(mlir.parse_module(text), "main", TARGET)
    found = dispatched(lowered, TARGET)
    return sum(seconds(found, name, driver) for name in found.programs)
