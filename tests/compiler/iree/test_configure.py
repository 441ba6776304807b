"""Kernels for processors without fast masks use whole vectors."""

import re

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import api, targets
from irax_compiler.chips import IS_X86
from irax_compiler.iree import phases
from irax_compiler.lowering import lower
from irax_runtime.iree.cpu import cpu

pytestmark = pytest.mark.skipif(not IS_X86, reason="chips of x86")


def lowered(function, *arguments, target):
    module = api.parse(irax.jit(function).lower(*arguments).as_text())
    return lower(module, function.__name__, target)


def machine_code(function, *arguments, chip):
    """The kernels of a function, as LLVM gets them."""
    target = f"iree-cpu:{chip}"
    made = dict(phases.phases(lowered(function, *arguments, target=target), target))
    return str(made["executable-targets"])


def run(function, *arguments):
    """The results of a function's program for a processor without masks."""
    target = "iree-cpu:x86-64"
    program = cpu().load(targets.compile(lowered(function, *arguments, target=target), target))
    return [result.numpy() for result in program([cpu().put(x) for x in arguments])]


def triple(x):
    return x * 3


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float32", "int8", "float16"])
def test_masks_are_left_to_processors_that_have_them(dtype):
    x = np.zeros(1_000_003, dtype)
    whole = re.compile(r"llvm\.load .* -> vector<")
    assert not whole.search(machine_code(triple, x, chip="x86-64-v4"))
    for chip in ("x86-64-v3", "x86-64"):
        assert whole.search(machine_code(triple, x, chip=chip))


def softmax(x):
    return irax.nn.softmax(x, axis=0)


def test_reductions_of_columns_mask_the_last_vector_alone():
    whole = re.compile(r"vector\.load .*memref<37000xf32")
    x = np.zeros((37, 1000), np.float32)
    kernels = {
        chip: str(lowered(softmax, x, target=f"iree-cpu:{chip}"))
        for chip in ("x86-64-v3", "x86-64-v4")
    }
    assert whole.search(kernels["x86-64-v3"])
    assert not whole.search(kernels["x86-64-v4"])


def test_reductions_of_any_number_of_columns_are_right():
    generator = np.random.default_rng(3)
    arrays = [generator.standard_normal((37, n)).astype(np.float32) for n in (3, 16, 20, 1000)]

    def function(*arrays):
        return [softmax(x) for x in arrays]

    for x, found in zip(arrays, run(function, *arrays), strict=True):
        powers = np.exp(x.astype(np.float64))
        np.testing.assert_allclose(found, powers / powers.sum(0), rtol=1e-5)


def test_results_of_odd_sizes_are_right():
    """Each of these ends in a part of a vector; 4,096 elements are a workgroup's."""
    generator = np.random.default_rng(7)
    sizes = [1, 7, 4095, 4097, 70_001]
    whole = [generator.integers(-100, 100, n).astype(np.int8) for n in sizes]
    real = [generator.standard_normal(n).astype(np.float32) for n in sizes]

    def function(*arrays):
        pairs = zip(arrays[: len(sizes)], arrays[len(sizes) :], strict=True)
        return [(x * 3 + 1, jnp.clip(y, -1, 1) * x > 0.3, jnp.sum(y * y)) for x, y in pairs]

    results = iter(run(function, *whole, *real))
    for x, y in zip(whole, real, strict=True):
        np.testing.assert_array_equal(next(results), (x * 3 + 1).astype(np.int8))
        np.testing.assert_array_equal(next(results), np.clip(y, -1, 1) * x > 0.3)
        np.testing.assert_allclose(next(results), np.sum(y.astype(np.float64) ** 2), rtol=1e-5)


def test_repeated_rows_are_right():
    generator = np.random.default_rng(3)
    arrays = [generator.integers(0, 255, (rows, 1003)).astype(np.uint8) for rows in (3, 50)]

    def repeated(*arrays):
        return [jnp.repeat(x, 3, axis=0) for x in arrays]

    for x, found in zip(arrays, run(repeated, *arrays), strict=True):
        np.testing.assert_array_equal(found, np.repeat(x, 3, axis=0))
