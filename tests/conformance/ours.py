"""irax's own backends: the evaluator, and the devices of IREE through irax's passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from tests.conformance.cases import Case

from irax_compiler.forms.reading import read_module
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.passes.legalize.target import Target
from irax_compiler.pipeline import run_pipeline, text_of
from irax_compiler.targets.cpu import CPU
from irax_compiler.targets.vulkan import VULKAN
from irax_runtime.device import Device, DeviceLostError
from irax_runtime.devices import devices

Results = Sequence[np.ndarray] | Exception


def text(cases: Iterable[Case]) -> str:
    """A module with a function @case<i> for each case."""
    return "".join(
        case.functions.replace("@part", f"@part{i}_")
        + case.function(f"case{i}").replace("@part", f"@part{i}_")
        for i, case in enumerate(cases)
    )


def evaluated(cases: Sequence[Case]) -> Iterator[Results]:
    """The results of the evaluator."""
    evaluator: Any = None
    try:
        evaluator = Evaluator(read_module(text(cases)))
    except Exception:
        if len(cases) == 1:
            raise
    for i, case in enumerate(cases):
        try:
            if evaluator is None:
                yield Evaluator(read_module(text([case])))("case0", case.operands)
            else:
                yield evaluator(f"case{i}", case.operands)
        except Exception as error:  # what is refused is an answer, too
            yield error


def compiled(cases: Sequence[Case], at_once: int = 40) -> Iterator[Results]:
    """The results of the device `cpu`, of programs of many functions each."""
    for i in range(0, len(cases), at_once):
        yield from _group(cases[i : i + at_once], CPU, "cpu")


def by_vulkan(cases: Sequence[Case], at_once: int = 8) -> Iterator[Results]:
    """The results of the first Vulkan device, likewise."""
    for i in range(0, len(cases), at_once):
        yield from _group(cases[i : i + at_once], VULKAN, "vulkan")


def _group(cases: Sequence[Case], target: Target, platform: str) -> list[Results]:
    try:
        module = read_module(text(cases))
        run_pipeline(module, text_of(target.passes))
        artefact = target.compile(module)
    except Exception as error:
        if len(cases) == 1:
            return [error]
        half = len(cases) // 2
        parts = cases[:half], cases[half:]
        return [results for part in parts for results in _group(part, target, platform)]
    return [_ran(artefact, f"case{i}", case, platform) for i, case in enumerate(cases)]


def _ran(artefact: bytes, name: str, case: Case, platform: str) -> Results:
    for last in (False, True):
        device: Device = devices(platform)[0]
        try:
            buffers = device.load(artefact, name)([device.put(x) for x in case.operands])
            return [buffer.numpy() for buffer in buffers]
        except DeviceLostError as error:  # by Mesa, on a busy machine: a new one is opened
            if last:
                return error
        except Exception as error:
            return error
    raise AssertionError("the last try returns")
