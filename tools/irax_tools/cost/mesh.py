"""The time of a function on the devices of a mesh, by a model of the links between them.

A device computes as this processor does, or at rates that are given. It sends what a collective
sends at the rate of its link, and waits for the link once for each round of messages. In the model
of a sum, each device adds up a part, and sends it to all others, as irax's own messages do.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from irax_compiler import api, mlir
from irax_compiler.cost import Cost, operations_of_call
from irax_compiler.locations import Frame
from irax_compiler.mlir import Operation
from irax_compiler.ops.collective import collective_of
from irax_tools import sources
from irax_tools.cost.measure import TARGET, in_dispatches, total
from irax_tools.cost.table import place_text, time_text
from irax_tools.show.files import frames_of_user
from irax_tools.show.terminal import short
from irax_tools.sources import Source

_UNITS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_NUMBER = r"(\d+(?:\.\d+)?)"
_WITH_UNIT = rf"{_NUMBER}([{''.join(_UNITS)}]?)"
_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_HEADS = ("time", "sent", "runs", "devices")


@dataclass(frozen=True)
class Link:
    """The link of a device to the others."""

    rate: float
    """Bytes in a second, in each direction."""
    latency: float
    """Seconds that a message takes that has no bytes."""

    @classmethod
    def parse(cls, text: str) -> Link:
        """The link of a text: a rate of bytes (B) or bits (bit), and a latency.

        >>> Link.parse("25GB/s,5us")
        Link(rate=25000000000.0, latency=5e-06)
        >>> Link.parse("1Gbit/s,0.5ms").rate
        125000000.0

        Raises:
            ValueError: the text has another form.
        """
        match = re.fullmatch(rf"{_WITH_UNIT}(B|bit)/s,\s*{_NUMBER}(s|ms|us|ns)", text.strip())
        if match is None or not float(match[1]):
            raise ValueError(f"{text!r}: expected a rate and a latency such as 25GB/s,5us")
        rate, prefix, unit, latency, time = match.groups()
        bytes_of = 1 if unit == "B" else 1 / 8
        return cls(float(rate) * _UNITS[prefix] * bytes_of, float(latency) * _TIMES[time])


@dataclass(frozen=True)
class Rates:
    """The most that a device does, by its maker."""

    flops: float
    """Operations in a second."""
    bandwidth: float
    """Bytes in a second, from and to its memory."""

    @classmethod
    def parse(cls, text: str) -> Rates:
        """The rates of a text.

        >>> Rates.parse("989Tflop/s,3.35TB/s")
        Rates(flops=989000000000000.0, bandwidth=3350000000000.0)

        Raises:
            ValueError: the text has another form.
        """
        match = re.fullmatch(rf"{_WITH_UNIT}flop/s,\s*{_WITH_UNIT}B/s", text.strip())
        if match is None or not float(match[1]) or not float(match[3]):
            raise ValueError(f"{text!r}: expected rates such as 989Tflop/s,3.35TB/s")
        return cls(float(match[1]) * _UNITS[match[2]], float(match[3]) * _UNITS[match[4]])

    def seconds(self, cost: Cost) -> float:
        """The least time of operations of which each reads its operands and writes its results."""
        return max((cost.flops + cost.transcendentals) / self.flops, cost.bytes / self.bandwidth)


@dataclass(frozen=True)
class Exchange:
    """A collective of a device's program, in all its runs."""

    name: str
    sent: float
    """The bytes that the device sends in a run."""
    rounds: int
    runs: float
    width: int
    """The number of devices that take part."""
    lines: Sequence[Frame]

    def seconds(self, link: Link) -> float:
        """The time of all runs."""
        return self.runs * (self.sent / link.rate + self.rounds * link.latency)


@dataclass(frozen=True)
class Step:
    """A call of a function, on each device of a mesh."""

    func: str
    mesh: Mapping[str, int]
    exchanges: Sequence[Exchange]
    computation: float
    """Seconds."""
    rates: Rates | None
    """The rates that the computation is at; None if it was measured on this processor."""


def step_of(source: Source, mesh: Mapping[str, int], rates: Rates | None = None) -> Step:
    """The step of each device of a mesh.

    Raises:
        UnsupportedOp: irax cannot divide the function, or cannot run it.
    """
    divided = sources.of_each_device(source, mesh, TARGET)
    module = mlir.clone_module(divided.module)
    api.run_pipeline(module, f"combine-all-reduces{{target={TARGET}}}")
    ran = list(operations_of_call(module, source.func))
    if rates is None:
        computation = total(in_dispatches(divided)[1])
    else:
        costs = (cost.times(runs) for operation, runs, cost in ran if not collective_of(operation))
        computation = sum(map(rates.seconds, costs))
    exchanges = [
        found for operation, runs, _ in ran if (found := _exchange(operation, runs)) is not None
    ]
    return Step(source.func, mesh, exchanges, computation, rates)


def _exchange(operation: Operation, runs: float) -> Exchange | None:
    op = collective_of(operation)
    if op is None or not (sent := op.sent(sum(map(mlir.bytes_of, operation.operands)))):
        return None
    name = op.kind.partition(".")[2]
    innermost = frames_of_user(operation.location)[:1]
    lines = [Frame(frame.file, frame.line) for frame in innermost]
    return Exchange(name, sent, op.rounds, runs, op.width, lines)


def lines(step: Step, link: Link) -> Iterator[str]:
    """A step as text: what bounds it, and a line for each collective, the longest first."""
    axes = ",".join(f"{name}={size}" for name, size in step.mesh.items())
    waiting = sum(exchange.seconds(link) for exchange in step.exchanges)
    sent = sum(exchange.sent * exchange.runs for exchange in step.exchanges)
    where = "measured here" if step.rates is None else "by its rates"
    bound = "computation" if step.computation >= waiting else "its links"
    yield (
        f"@{step.func} on each of {math.prod(step.mesh.values())} devices ({axes}): "
        f"{time_text(step.computation)} of computation ({where}), and {time_text(waiting)} to send "
        f"{short(sent)} bytes"
    )
    yield (
        f"a call takes {time_text(step.computation + waiting)}, bound by {bound}; at least "
        f"{time_text(max(step.computation, waiting))} if it computes while it sends"
    )
    if not step.exchanges:
        return
    yield ""
    yield f"{''.join(f'{head:>10}' for head in _HEADS)}  collective"
    for exchange in sorted(step.exchanges, key=lambda exchange: -exchange.seconds(link)):
        cells = (
            time_text(exchange.seconds(link)),
            short(exchange.sent * exchange.runs),
            f"{exchange.runs:g}",
            str(exchange.width),
        )
        place = place_text(exchange.lines)
        yield f"{''.join(f'{cell:>10}' for cell in cells)}  {exchange.name}{place}"
