"""Random programs: devices against the evaluator, reverse against forward mode, lanes against
batches.

`make fuzz` runs thousands. What fails is made small, and left in FOLDER as a `.mlir` file.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.differential.random.programs import ROUNDED, random_arguments, random_program
from tests.runtime.pjrt.pjrt_programs import needs_plugin

from irax_compiler import lowering, mlir, targets
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.pipeline import run_pipeline
from irax_runtime.choice import TRIAL
from irax_runtime.device import Device
from irax_runtime.devices import devices

FOLDER = Path(".fuzz")
EXAMPLES = int(os.environ.get("IRAX_FUZZ", "0"))
"""The number of programs of each kind; 0: few."""
NUMBERS = st.floats(-2, 2, width=16).map(lambda x: x + 0.0)
"""Without -0, which sums may or may not keep, and sorts put before 0."""
TOLERANCE = 1e-9
CALLS = 2 * TRIAL
"""Calls in which a device tries two ways to run a program: by one thread and by several."""
Arrays = list[np.ndarray]


def examples(few: int) -> Callable:
    """Made small only in the long run: for programs that are compiled it takes minutes."""
    phases = tuple(p for p in Phase if EXAMPLES or p not in (Phase.shrink, Phase.explain))
    return settings(max_examples=EXAMPLES or few, print_blob=True, phases=phases)


@contextmanager
def kept(module: mlir.Module, name: str) -> Iterator[None]:
    """Leaves the text of a module for which the block fails; the last one is the smallest."""
    text = str(module)
    try:
        yield
    except Exception:
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"{name}.mlir").write_text(text)
        raise


def random_case(data: st.DataObject, most: int, large: bool = False) -> tuple[mlir.Module, Arrays]:
    module = random_program(data.draw, ROUNDED, NUMBERS, most, large=large)
    return module, random_arguments(data.draw, module, NUMBERS)


def drawn_like(data: st.DataObject, arrays: Arrays) -> Arrays:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    return [rng.uniform(-1, 1, a.shape) for a in arrays]


def dot(xs: Arrays, ys: Arrays) -> float:
    return sum(float(np.vdot(x, y)) for x, y in zip(xs, ys, strict=True))


def size(xs: Arrays) -> float:
    return sum(float(np.abs(x).sum()) for x in xs)


def assert_close(found: Arrays, expected: Arrays) -> None:
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape
        scale = np.abs(b[np.isfinite(b)]).max(initial=1)
        np.testing.assert_allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * scale)


@examples(60)
@given(st.data())
def test_reverse_mode_is_the_transpose_of_forward_mode(data: st.DataObject):
    module, x = random_case(data, most=14)
    with kept(module, "vjp"):
        run_pipeline(module, "jvp{func=main},vjp{func=main},simplify,prune")
        evaluator = Evaluator(module)
        y = evaluator("main", x)
        u, v = drawn_like(data, y), drawn_like(data, x)
        tangents = evaluator("main.jvp", [*x, *v])[len(y) :]
        cotangents = evaluator("main.vjp", [*x, *u])[len(y) :]
        scale = 1 + size(tangents) + size(cotangents)
        assert abs(dot(u, tangents) - dot(cotangents, v)) <= TOLERANCE * scale


@examples(60)
@given(st.data())
def test_a_batch_is_its_lanes(data: st.DataObject):
    module, x = random_case(data, most=14)
    with kept(module, "batch"):
        run_pipeline(module, "vjp{func=main},batch{func=main.vjp size=2},simplify,prune")
        evaluator = Evaluator(module)
        u = drawn_like(data, evaluator("main", x))
        inputs = [*x, *u]
        lanes = [inputs, drawn_like(data, inputs)]
        found = evaluator("main.vjp.batch", [np.stack(pair) for pair in zip(*lanes, strict=True)])
        for lane, arrays in enumerate(lanes):
            assert_close([a[lane] for a in found], evaluator("main.vjp", arrays))


def compare_on_device(device: Device, module: mlir.Module, name: str, inputs: Arrays) -> None:
    """Compares a function with the evaluator, in the ways that the device tries."""
    expected = Evaluator(module)(name, inputs)
    lowered = lowering.lower(module, name, device.target, is_direct=True)
    executable = device.load(targets.compile(lowered, device.target), name)
    before = [a.copy() for a in inputs]
    for _ in range(CALLS):
        found = executable([device.put(a) for a in inputs])
        assert_close([a.numpy() for a in found], expected)
        for a, b in zip(inputs, before, strict=True):
            np.testing.assert_array_equal(a, b)


def compare_gradient(data: st.DataObject, platform: str, large: bool) -> None:
    device = devices(platform)[0]
    module, x = random_case(data, most=10, large=large)
    with kept(module, device.target):
        run_pipeline(module, "vjp{func=main},simplify,prune")
        inputs = [*x, *drawn_like(data, Evaluator(module)("main", x))]
        compare_on_device(device, module, "main.vjp", inputs)


PLATFORMS = pytest.mark.parametrize(
    "platform", ["cpu", pytest.param("pjrt:cpu", marks=needs_plugin)]
)


@PLATFORMS
@examples(8)
@given(st.data())
@pytest.mark.slow
def test_a_device_agrees_with_the_evaluator(platform: str, data: st.DataObject):
    compare_gradient(data, platform, large=False)


@PLATFORMS
@examples(3)
@given(st.data())
@pytest.mark.slow
def test_a_device_agrees_with_the_evaluator_on_large_arrays(platform: str, data: st.DataObject):
    compare_gradient(data, platform, large=True)
