"""On an NVIDIA GPU: the op table, against the evaluator, and training, against the processor.

    python -m pytest tests/runtime/test_cuda.py -v   # a sample of the forms; IRAX_ALL_FORMS=1: all

Where there is no such GPU all of it is skipped, and says why. That the programs compile is tested
everywhere (tests/differential/devices/test_cuda.py).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.differential.devices.test_cuda import lowered, rounding
from tests.differential.harness import assert_near
from tests.differential.test_iree import MODULES, Function

import irax
import irax.numpy as jnp
from irax_compiler import targets
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.pipeline import run_pipeline
from irax_runtime.devices import NoDevice

PLATFORM = "cuda"
EXAMPLES = Path(__file__).parents[2] / "examples"

try:
    (device, *_) = irax.devices(PLATFORM)
    MISSING = ""
except NoDevice as error:
    MISSING = str(error)

pytestmark = pytest.mark.needs_system(MISSING)


@pytest.mark.parametrize("functions", MODULES.values(), ids=MODULES)
def test_the_gpu_agrees_with_the_evaluator(functions: Sequence[Function]) -> None:
    module, ready, names = lowered(functions)
    if not names:
        pytest.skip("all of it is refused: it calls the host")
    artefact = targets.compile(ready, device.target)
    run_pipeline(module, "decompose")  # factorizations are unique up to signs
    evaluator = Evaluator(module)
    wrong = []
    for name, function in names.items():
        arrays = function.arguments()
        results = device.load(artefact, name)([device.put(a) for a in arrays])
        try:
            for result, value in zip(results, evaluator(name, arrays), strict=True):
                assert result.dtype == value.dtype
                tolerance = max(function.case.tolerance or 0, rounding(value.dtype))
                assert_near(result.numpy(), value, tolerance)
        except AssertionError as error:
            wrong.append(f"{function}: {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("length", [1000, 100_000])
def test_long_arrays(length: int) -> None:
    """Programs in which many threads have to agree: sums, extrema, orders and matrices of a real
    size.
    """
    x = np.random.default_rng(0).normal(size=length).astype(np.float32)
    given = irax.device_put(x, device)
    np.testing.assert_allclose(np.asarray(jnp.sum(given)), x.sum(dtype=np.float64), atol=1e-2)
    np.testing.assert_array_equal(np.asarray(jnp.max(given)), x.max())
    np.testing.assert_array_equal(np.asarray(jnp.argmax(given)), x.argmax())
    np.testing.assert_array_equal(np.asarray(jnp.sort(given)), np.sort(x))
    np.testing.assert_array_equal(np.asarray(jnp.argsort(given)), np.argsort(x, kind="stable"))
    np.testing.assert_allclose(
        np.asarray(jnp.cumsum(given)), np.cumsum(x, dtype=np.float64), atol=2e-2
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("size", [33, 512, 1000])
def test_matrices(size: int, dtype: str) -> None:
    """Some of these are multiplied by tensor cores."""
    rng = np.random.default_rng(0)
    with irax.enable_x64(dtype == "float64"):
        x, y = (jnp.asarray(rng.normal(size=(size, size)), dtype) for _ in range(2))
        product = irax.jit(jnp.dot)(irax.device_put(x, device), irax.device_put(y, device))
    expected = np.asarray(x, np.float64) @ np.asarray(y, np.float64)
    error = np.abs(np.asarray(product, np.float64) - expected).max() / np.abs(expected).max()
    assert error < {"float16": 2e-3, "bfloat16": 1e-2, "float32": 1e-5, "float64": 1e-13}[dtype]


STEPS = ("digits", "gpt", "conv_net", "vae", "dqn", "n_body", "gaussian_process", "kalman_filter")


@pytest.mark.parametrize("name", STEPS)
def test_a_step_of_training_is_that_of_the_processor(name: str) -> None:
    """Steps of networks with dense layers, convolutions and attention, and of other programs."""
    from tests.frontend.test_examples import example

    step, arguments = example(name).step_and_arguments()
    results = []
    for platform in ("cpu", PLATFORM):
        with irax.default_device(irax.devices(platform)[0]):
            results.append(irax.tree.leaves(step(*arguments)))
    for ours, theirs in zip(*results, strict=True):
        if irax.dtypes.issubdtype(ours.dtype, irax.dtypes.prng_key):
            ours, theirs = irax.random.key_data(ours), irax.random.key_data(theirs)
        expected, found = np.asarray(ours), np.asarray(theirs)
        scale = max(float(np.max(np.abs(expected))), 1e-6)
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-4 * scale)


def test_digits_are_learned(tmp_path: Path) -> None:
    """As well as on the processor, from the start to the end."""

    def accuracy(platform: str) -> float:
        done = subprocess.run(
            [sys.executable, str(EXAMPLES / "digits.py"), "--epochs", "5", "--ir", str(tmp_path)],
            capture_output=True,
            text=True,
            env={**os.environ, "IRAX_PLATFORMS": platform},
        )
        assert done.returncode == 0, done.stderr[-2000:]
        (line,) = [x for x in done.stdout.splitlines() if x.startswith("test accuracy")]
        return float(line.split()[-1])

    assert abs(accuracy(PLATFORM) - accuracy("cpu")) <= 0.01
