"""Every case, its derivatives and its batched forms are compiled by the compiler for TPUs, or are
refused by name before it sees them. By default a few; all with IRAX_ALL_FORMS=1.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from tests.differential.devices.test_pjrt import expected_of
from tests.differential.devices.tpu_worker import COMPILED, REFUSED
from tests.differential.harness import assert_near, epsilon
from tests.differential.test_iree import MODULES, Function
from tests.runtime.pjrt.pjrt_programs import needs_tpu_compiler
from tests.sampling import ALL_FORMS

from irax_compiler import mlir
from irax_compiler.lowering import lower
from irax_compiler.ops.evaluation.evaluator import Evaluator

TOPOLOGY = "v5e:2x2x1"
WITHOUT_LIBRARIES = ("callback-", "factorizations-eig", "factorizations-schur")
"""Functions that call Python, or LAPACK, by the beginnings of their names: those that are refused,
and `factorizations-eigh`, which is not."""
FUNCTIONS = [function for module in MODULES.values() for function in module]
SAMPLE = [f"{module}:0" for module in list(MODULES)[::8]]


def outcomes(*names: str) -> Iterator[tuple[str, str]]:
    """Each function's name and what became of it."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.differential.devices.tpu_worker", TOPOLOGY, *names],
        capture_output=True,
        text=True,
    )
    lines = done.stdout.splitlines()
    if done.returncode:
        lines.append(f"wrong: the process ended with {done.returncode}: {done.stderr[-2000:]}")
    return zip(lines[::2], lines[1::2], strict=True)


def is_wrong(name: str, outcome: str) -> bool:
    if outcome.startswith(REFUSED):
        on_host = name.startswith(WITHOUT_LIBRARIES) and "eigh" not in name
        return not (on_host or ("precision-f64" in name and "reduce_precision of" in outcome))
    return outcome != COMPILED


@needs_tpu_compiler
@pytest.mark.parametrize("names", [*MODULES] if ALL_FORMS else [SAMPLE])
def test_the_compiler_for_tpus_takes_it(names: str | list[str]) -> None:
    found = list(outcomes(*([names] if isinstance(names, str) else names)))
    assert found
    wrong = [f"{name}: {outcome}" for name, outcome in found if is_wrong(name, outcome)]
    assert not wrong, "\n".join(wrong)


REWRITTEN = [f for f in FUNCTIONS if f.case.family in ("fft", "windows", "convolution")]


@pytest.mark.parametrize("functions", [REWRITTEN[i::8] for i in range(8)])
def test_what_is_rewritten_for_tpus_means_what_it_meant(functions: list[Function]) -> None:
    for function in functions[:: 1 if ALL_FORMS else 6]:
        module = mlir.new_module()
        name = function.add_to(module, "f")
        arrays = function.arguments()
        found = Evaluator(lower(module, name, "tpu"))(name, arrays)
        for result, value in zip(found, expected_of(module, function, name, arrays), strict=True):
            rounding = 100 * epsilon(value.dtype) if mlir.inexact(value.dtype) else 0
            assert_near(result, value, max(function.case.tolerance or 0, rounding))


DTYPES_OF_LONG_INTEGERS = (np.int64, np.uint64)


def for_tpus(text: str, *arguments: np.ndarray) -> np.ndarray:
    """The result of a function, rewritten for TPUs, without a product or a convolution in it."""
    lowered = lower(mlir.parse_module(text), "f", "tpu")
    assert "stablehlo.dot" not in str(lowered)
    assert "stablehlo.convolution" not in str(lowered)
    (found,) = Evaluator(lowered)("f", list(arguments))
    return found


@pytest.mark.parametrize("dtype", DTYPES_OF_LONG_INTEGERS)
def test_products_of_long_integers_wrap_as_numpys(dtype: type) -> None:
    rng, limits = np.random.default_rng(0), np.iinfo(dtype)
    x = rng.integers(limits.min, limits.max, (3, 4, 5, 2), dtype)
    y = rng.integers(limits.min, limits.max, (5, 3, 6, 2), dtype)
    element = str(mlir.tensor_type((), np.dtype(dtype))).removeprefix("tensor<")[:-1]
    types = [f"tensor<{sizes}x{element}>" for sizes in ("3x4x5x2", "5x3x6x2", "2x3x4x6")]
    text = f"""
      func.func @f(%x: {types[0]}, %y: {types[1]}) -> {types[2]} {{
        %0 = stablehlo.dot_general %x, %y, batching_dims = [3, 0] x [3, 1],
          contracting_dims = [2] x [0] : ({types[0]}, {types[1]}) -> {types[2]}
        return %0 : {types[2]}
      }}"""
    np.testing.assert_array_equal(for_tpus(text, x, y), np.einsum("bncz,cbmz->zbnm", x, y))


@pytest.mark.parametrize("dtype", DTYPES_OF_LONG_INTEGERS)
@pytest.mark.parametrize("kernel", [3, 8])
def test_convolutions_of_long_integers_wrap_as_numpys(dtype: type, kernel: int) -> None:
    rng, limits = np.random.default_rng(0), np.iinfo(dtype)
    x = rng.integers(limits.min, limits.max, (2, 4, 9), dtype)
    y = rng.integers(limits.min, limits.max, (4, 2, kernel), dtype)
    groups, padded = 2, np.pad(x, ((0, 0), (0, 0), (1, 2)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=2)[:, :, ::2]
    parts = zip(np.split(windows, groups, 1), np.split(y, groups), strict=True)
    expected = np.concatenate([np.einsum("nilk,oik->nol", a, b) for a, b in parts], 1)
    element = str(mlir.tensor_type((), np.dtype(dtype))).removeprefix("tensor<")[:-1]
    result = "x".join(map(str, expected.shape))
    types = [f"tensor<{n}x{element}>" for n in ("2x4x9", f"4x2x{kernel}", result)]
    text = f"""
      func.func @f(%x: {types[0]}, %y: {types[1]}) -> {types[2]} {{
        %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],
          window = {{stride = [2], pad = [[1, 2]]}}
          {{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}}
          : ({types[0]}, {types[1]}) -> {types[2]}
        return %0 : {types[2]}
      }}"""
    np.testing.assert_array_equal(for_tpus(text, x, y), expected)
