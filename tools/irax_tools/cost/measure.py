"""The time of each dispatch of a function on the processor, and of a call."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from irax_compiler import api, mlir
from irax_compiler.cost import Cost
from irax_compiler.iree.dispatches import Dispatch, Dispatched, dispatched
from irax_compiler.locations import Frame
from irax_compiler.ops.core import Memory
from irax_compiler.ops.registry import read, traits_of
from irax_runtime import dispatch_times
from irax_runtime.devices import devices
from irax_tools.cost.origins import Origin, Origins
from irax_tools.programs import compile_source
from irax_tools.show.files import frames_of_user
from irax_tools.sources import Source

TARGET = "iree-cpu"
_DRIVER = re.compile(r'irax\.driver = "(\w+)"')
_CALLS, _SECONDS = 50, 2.0
AWAKE = 0.8
"""The least share of the time in which what is measured has to run, to be told without a word."""


@dataclass(frozen=True)
class Run:
    """A dispatch, in all its runs of a call."""

    name: str
    operations: Sequence[str]
    """The names of the operations that it computes."""
    cost: Cost
    """Its operations' arithmetic, and the bytes that the dispatch itself reads and writes."""
    runs: float
    seconds: float | None
    """The time that it takes; None where it could not be measured."""
    stack: Sequence[Frame]
    """The lines that all its operations were called from, the outermost first."""
    lines: Sequence[Frame]
    """The lines of its operations."""
    width: int
    """The size in bytes of a number that it computes with."""
    written: float
    """The bytes, of those that its cost has, that it writes."""
    awake: float = 1.0
    """The share of the time of its measurement in which its thread ran: the rest is that of other
    programs.
    """


@dataclass(frozen=True)
class Measured:
    """A function's dispatches."""

    func: str
    driver: str
    """`sync`, for the calling thread, or `task`, for all threads."""
    seconds: float
    """The time of a call."""
    runs: Sequence[Run]
    traced: Mapping[Frame, int] = field(default_factory=dict[Frame, int])
    """The lines that were traced many times, with how often."""
    detours: Mapping[Frame, str] = field(default_factory=dict[Frame, str])
    """The lines that compute much more than their results need, and what to write instead."""

    @property
    def in_dispatches(self) -> float:
        """The time of all dispatches, one after the other."""
        return total(self.runs)

    @property
    def awake(self) -> float:
        """The share of the time of all measurements in which their thread ran."""
        took = sum((run.seconds or 0) * run.awake for run in self.runs)
        return took / self.in_dispatches if self.in_dispatches else 1.0


def measure(source: Source, inputs: Sequence[np.ndarray[Any, Any]]) -> Measured:
    """Compile a function for the processor, and time a call, and each dispatch by itself.

    Raises:
        UnsupportedOp: irax cannot run the function.
        CompileError: IREE refuses it.
    """
    driver, runs = in_dispatches(source)
    often = {line: times for line, (times, _) in api.repeated_lines(source.module).items()}
    return Measured(
        source.func, driver, call_time(source, inputs), runs, often, api.detours(source.module)
    )


def in_dispatches(source: Source) -> tuple[str, list[Run]]:
    """Compile a function for the processor, and time each dispatch by itself. Return the driver and
    the dispatches.
    """
    numbered = mlir.clone_module(source.module)
    origins = Origins(numbered, source.func)
    try:
        lowered = api.lower(numbered, source.func, TARGET)
    except (NotImplementedError, ValueError):
        api.lower(source.module, source.func, TARGET)  # whose locations have no numbers
        raise
    text = mlir.text_of(lowered.operation)
    driver = match[1] if (match := _DRIVER.search(text)) else "task"
    found = dispatched(lowered, TARGET)
    known = {name: timed(found, name, driver) for name in found.programs}
    runs = []
    for dispatch, own in zip(found.dispatches, origins.of(found.dispatches), strict=True):
        took, awake = known.get(dispatch.name, (None, 1.0))
        run = _run(dispatch, own, origins.steps(dispatch), took)
        runs.append(replace(run, awake=awake))
    return driver, runs


def total(runs: Sequence[Run]) -> float:
    """The time of dispatches, one after the other, in seconds."""
    return sum(run.seconds or 0 for run in runs)


def timed(found: Dispatched, name: str, driver: str) -> tuple[float, float]:
    """The time of one run of a dispatch, in the calling thread (`sync`), or in all threads where
    that is faster (`task`), as the runtime chooses; and the share of the time of the measurement in
    which the calling thread ran.
    """
    device: Any = devices("cpu")[0]
    program = found.compile(name)
    start, ran = time.perf_counter(), time.thread_time()
    took = dispatch_times.seconds(device, *program, "sync")
    awake = min((time.thread_time() - ran) / (time.perf_counter() - start), 1.0)
    if driver != "sync":
        took = min(took, dispatch_times.seconds(device, *program, driver))
    return took, awake


def _run(dispatch: Dispatch, own: Sequence[Origin], steps: float, took: float | None) -> Run:
    cost = sum((origin.cost for origin in own), Cost())
    stacks = [frames_of_user(o.operation.location)[::-1] for o in own]
    stacks = [stack for stack in stacks if stack]
    common = _common([[(f.file, f.line) for f in stack] for stack in stacks])
    own_lines = {Frame(f.file, f.line) for f in (stack[-1] for stack in stacks)}
    names = dict.fromkeys(_name(o) for o in own)
    widths = [_width(o) for o in own]
    moved = dispatch.bytes * steps
    if any(traits_of(o.operation).memory is Memory.PART for o in own):
        moved = min(moved, cost.bytes)  # it reads a part of an array
    return Run(
        dispatch.name,
        list(names),
        Cost(cost.flops, cost.transcendentals, moved),
        steps,
        None if took is None else took * steps,
        [Frame(f.file, f.line) for f in stacks[0][:common]] if stacks else (),
        sorted(own_lines, key=lambda f: (f.file, f.line)),
        max(widths, default=4),
        min(dispatch.written * steps, moved),
    )


def _common(stacks: Sequence[Sequence[tuple[str, int]]]) -> int:
    """The number of frames that all stacks have in common, which leaves one to each."""
    count = 0
    shortest = min(map(len, stacks), default=0)
    while count < shortest - 1 and len({stack[count] for stack in stacks}) == 1:
        count += 1
    return count


def _name(origin: Origin) -> str:
    """The name of an operation without its dialect, or that of the op that a composite is."""
    operation = origin.operation
    is_composite = operation.name == "stablehlo.composite"
    name = read(operation).name if is_composite else operation.name
    return name.partition(".")[2]


def _width(origin: Origin) -> int:
    results = [x for x in origin.operation.results if not mlir.type_problem(x.type)]
    return max((mlir.dtype_of(x).itemsize for x in results), default=4)


def call_time(source: Source, inputs: Sequence[np.ndarray[Any, Any]]) -> float:
    """The median time of some calls, of arrays that are on the processor already."""
    device = devices("cpu")[0]
    executable = device.load(compile_source(source, device.target), source.func)
    given = [device.put(x) for x in inputs]
    times: list[float] = []
    end = time.perf_counter() + _SECONDS
    while len(times) < 3 or (len(times) < _CALLS and time.perf_counter() < end):
        start = time.perf_counter()
        for result in executable(given):
            result.wait()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]
