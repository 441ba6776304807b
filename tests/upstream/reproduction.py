"""Reproductions: small StableHLO programs that a compiler refuses, gets wrong, or is slow at.

    // IREE adds booleans modulo 2.
    // ISSUE: https://github.com/...
    // TARGETS: iree-cpu
    // EXPECT: wrong
    // SPEC: add: "For booleans: logical OR."
    // INPUT: [True, True, False]
    // INPUT: [True, False, False]
    func.func @main(%x: tensor<3xi1>, %y: tensor<3xi1>) -> tensor<3xi1> { ... }

The program goes to the target's compiler as it is, without irax's passes. What it gives is compared
with the evaluator's results (`TOLERANCE`, relative, is 1e-5 by default), and what is expected to be
`slow` with the time of the same program as irax lowers it (half as long again, or more). An input
is a list of elements, which are repeated until the argument is full. `SPEC`, of one line or more,
is the sentence of StableHLO's specification that wrong results do not agree with. A program that
calls a host function (`@irax_host.sort`), which becomes an import, is compiled only.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from irax_compiler import mlir, targets
from irax_compiler.iree.invocation import CompileError
from irax_compiler.lowering import lower
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.passes.core import nested
from irax_compiler.passes.host.annotate import Annotate
from irax_compiler.passes.host.host import Host, is_host_call
from irax_runtime.device import Device
from irax_runtime.devices import devices
from irax_runtime.platforms import NoDevice

FOLDER = Path(__file__).parent
OUTCOMES = ("right", "wrong", "refused", "slow")
"""The outcomes of a program; another is `untried: why`, where its target is not here. Programs that
end a process, or keep it busy without end, are not kept: a legalization says in words what they do.
"""
PLATFORMS = {"iree-cpu": "cpu", "pjrt": "pjrt:cpu", "iree-vulkan": "vulkan", "iree-cuda": "cuda"}
"""For each target, the platform whose device runs its programs."""
LIMIT = 60
"""The seconds in which a program ends."""
T = TypeVar("T")
SLOW = 1.5
"""The ratio to the time of irax's own lowering from which on a program is slow."""


@dataclass(frozen=True)
class Reproduction:
    """A program, and what is wrong with it."""

    name: str
    text: str
    why: str
    specification: str
    targets: tuple[str, ...]
    expected: str
    inputs: tuple[list[Any], ...]
    tolerance: float
    issue: str | None
    """The address of the upstream issue, if one is known."""

    @classmethod
    def read(cls, name: str, folder: Path = FOLDER) -> Reproduction:
        """The reproduction of a name."""
        return cls.parse(name, (folder / f"{name}.mlir").read_text("utf-8"))

    @classmethod
    def parse(cls, name: str, text: str) -> Reproduction:
        """A reproduction from the text of its file."""
        lines = re.findall(r"^// ?(.*)$", text, re.MULTILINE)
        fields = [re.match(r"([A-Z]+): *(.*)", line) for line in lines]
        found: dict[str, list[str]] = {}
        for field in fields:
            if field is not None:
                found.setdefault(field[1], []).append(field[2])
        unknown = set(found) - {"TARGETS", "EXPECT", "SPEC", "INPUT", "TOLERANCE", "ISSUE"}
        (expected,) = found.get("EXPECT", [""])
        if unknown or expected not in OUTCOMES:
            raise ValueError(f"{name}: unknown {unknown or expected!r}; expected one of {OUTCOMES}")
        return cls(
            name,
            text,
            " ".join(line for line, field in zip(lines, fields, strict=True) if field is None),
            " ".join(found.get("SPEC", [])),
            tuple(found.get("TARGETS", ["iree-cpu"])[0].split(", ")),
            expected,
            tuple(_numbers(line) for line in found.get("INPUT", [])),
            float(found.get("TOLERANCE", ["1e-5"])[0]),
            found.get("ISSUE", [None])[0],
        )

    def arguments(self) -> list[np.ndarray]:
        """The arrays that @main is called with."""
        module = mlir.parse_module(self.text)
        parameters = mlir.arguments(mlir.functions(module)["main"])
        return [
            np.resize(np.array(given).astype(mlir.dtype_of(x)), mlir.shape_of(x))
            for given, x in zip(self.inputs, parameters, strict=True)
        ]


def _numbers(text: str) -> list[Any]:
    return eval(text, {"nan": np.nan, "inf": np.inf})


@dataclass(frozen=True)
class Observed:
    """The end of a program on a target."""

    outcome: str
    """One of `OUTCOMES`, or `untried: why`."""
    error: str = ""
    """The compiler's message, where it was refused."""
    right: tuple[np.ndarray, ...] = ()
    """The evaluator's results."""
    found: tuple[np.ndarray, ...] = ()


def outcome(reproduction: Reproduction, target: str, limit: float = LIMIT) -> str:
    """Return the outcome of a program on a target: one of `OUTCOMES`, or `untried: why`."""
    return observed(reproduction, target, limit).outcome


def observed(reproduction: Reproduction, target: str, limit: float = LIMIT) -> Observed:
    """Run a program on a target."""
    return in_child(partial(_tried, reproduction, target), limit)


_FATAL = (
    "the program ended its process, or did not end: remove it, and give the legalization `fatal=`, "
    "which says in words what happens, and in which version"
)


def in_child(job: Callable[[], T], limit: float) -> T:
    """Run a job in a process of its own and return its result.

    Raises:
        RuntimeError: the process ended without a result, or did not end in `limit` seconds; or the
            job raised an error.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_send, args=(job, sender))
    child.start()
    sender.close()
    try:
        found = receiver.recv() if receiver.poll(limit) else RuntimeError(_FATAL)
    except EOFError:
        found = RuntimeError(_FATAL)
    finally:
        child.kill()
        child.join()
    if isinstance(found, Exception):
        raise found
    return found


def _send(job: Callable[[], Any], sender: Any) -> None:
    faulthandler.disable()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # where compilers say why they crash
    try:
        found: Any = job()
    except Exception as error:  # a mistake in the reproduction, not in a compiler
        found = RuntimeError(f"{type(error).__name__}: {error}")
    sender.send(found)


def _tried(reproduction: Reproduction, target: str) -> Observed:
    if target == "tpu":
        return Observed("untried: there is no compiler for TPUs here")
    module = mlir.parse_module(reproduction.text)
    arguments = reproduction.arguments()
    calls_host = any(map(is_host_call, nested(module.operation)))
    expected = [] if calls_host else Evaluator(module)("main", arguments)
    Annotate().run(module)
    Host().run(module)
    try:
        artefact = targets.compile(module, target)
    except (CompileError, NotImplementedError, ValueError) as error:  # or what does not verify
        return Observed("refused", str(error))
    device = None if calls_host else _device(target)
    if device is None:
        if target == "pjrt" or reproduction.expected in ("wrong", "slow"):
            return Observed(f"untried: there is no device for {target} here")
        return Observed("right")  # as far as the compiler goes
    try:
        program = _program(device, artefact)
        results = program(arguments)
    except (IndexError, RuntimeError, ValueError) as error:
        return Observed("refused", str(error))  # by the compiler behind PJRT, or by the runtime
    if reproduction.expected == "slow":
        lowered = lower(mlir.parse_module(reproduction.text), "main", target)
        faster = targets.compile(lowered, target)
        times = [_seconds(device, x, arguments) for x in (artefact, faster)]
        ratio = times[0] / times[1]
        return Observed("slow" if ratio > SLOW else "right")
    pairs = list(zip(results, expected, strict=True))
    is_right = all(is_near(x, y, reproduction.tolerance) for x, y in pairs)
    return Observed("right" if is_right else "wrong", "", tuple(expected), tuple(results))


def _device(target: str) -> Device | None:
    """The device that runs the programs of a target, if there is one."""
    try:
        return devices(PLATFORMS[target])[0]
    except (KeyError, NoDevice):
        return None


def _program(device: Device, artefact: bytes) -> Callable[[list[np.ndarray]], list[np.ndarray]]:
    """A program, from arrays to arrays."""
    program = device.load(artefact, "main")
    return lambda arrays: [r.numpy() for r in program([device.put(a.copy()) for a in arrays])]


def _seconds(device: Device, artefact: bytes, arguments: list[np.ndarray]) -> float:
    """The shortest time of some calls, of arrays that are on the device."""
    program, times = device.load(artefact, "main"), []
    given = [device.put(a) for a in arguments]
    for _ in range(10):
        start = time.perf_counter()
        for result in program(given):
            result.numpy()
        times.append(time.perf_counter() - start)
    return min(times)


def is_near(x: np.ndarray, y: np.ndarray, tolerance: float) -> bool:
    """Return True if arrays agree, down to the sign of zeros."""
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    if not mlir.inexact(y.dtype):
        return bool(np.array_equal(x, y))
    wide = np.complex128 if y.dtype.kind == "c" else np.float64
    x, y = x.astype(wide), y.astype(wide)
    near = np.isclose(x, y, rtol=tolerance, atol=0, equal_nan=True)
    if wide is np.float64:
        near &= np.isnan(y) | (y != 0) | (np.signbit(x) == np.signbit(y))
    return bool(near.all())
