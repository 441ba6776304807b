"""Every case, its derivatives and its batched forms, compiled for CUDA, where no GPU is needed for
that; and what GPUs are given evaluated in NumPy, against the evaluator of what was asked for.

By default one form in fifty; all with IRAX_ALL_FORMS=1. For HIP, whose code is made in the same
way, a handful. What a GPU makes of it is tests/runtime/test_cuda.py's.
"""

import os
from collections.abc import Sequence

import numpy as np
import pytest
from tests.differential.harness import assert_near, epsilon
from tests.differential.test_iree import IN_ONE_MODULE, MODULES, Function

from irax_compiler import mlir
from irax_compiler.evaluate import Evaluator
from irax_compiler.lowering import STABLEHLO, lower
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.pipeline import run_pipeline
from irax_compiler.targets import iree

EVERYTHING = "IRAX_ALL_FORMS" in os.environ
TARGET = "iree-cuda:sm_80"

FUNCTIONS = [function for functions in MODULES.values() for function in functions]
"""Without IRAX_ALL_FORMS, a third of all."""
CHOSEN = FUNCTIONS if EVERYTHING else FUNCTIONS[::17]
PARTS = [CHOSEN[i : i + IN_ONE_MODULE] for i in range(0, len(CHOSEN), IN_ONE_MODULE)]


def lowered(functions: Sequence[Function]) -> tuple[mlir.Module, mlir.Module, dict[str, Function]]:
    """A module of those functions that CUDA does not refuse, the same lowered for it, and what
    function has what name.
    """
    there = [function for function in functions if not _is_refused(function)]
    module = mlir.new_module()
    names = {function.add_to(module, f"f{i}"): function for i, function in enumerate(there)}
    for name, operation in mlir.functions(module).items():
        if name not in names:
            operation.attributes["sym_visibility"] = mlir.string("private")
    ready = mlir.clone_module(module)
    run_pipeline(ready, STABLEHLO.format(target="iree-cuda"))
    return module, ready, names


def _is_refused(function: Function) -> bool:
    """Whether it is, by name: docs/devices.md has a list, made from the same refusals."""
    if function.case.family not in ("callback", "factorizations"):
        return False
    module = mlir.new_module()
    name = function.add_to(module, "f")
    try:
        lower(module, name, "iree-cuda")
    except UnsupportedOp:
        return True
    return False


@pytest.mark.parametrize("functions", PARTS, ids=[str(part[0]) for part in PARTS])
def test_cuda_compiles_the_same_program(functions: Sequence[Function]) -> None:
    module, ready, names = lowered(functions)
    assert iree.compile(mlir.bytecode(ready), target=TARGET).startswith(b"PK")
    # Factorizations are unique up to signs, which LAPACK chooses otherwise.
    run_pipeline(module, "decompose")
    before, after = Evaluator(module), Evaluator(ready)
    for name, function in names.items():
        arrays = function.arguments()
        for result, value in zip(after(name, arrays), before(name, arrays), strict=True):
            assert result.dtype == value.dtype, function
            tolerance = max(function.case.tolerance or 0, rounding(value.dtype))
            try:
                assert_near(result, value, tolerance)
            except AssertionError as error:
                raise AssertionError(f"{function}: {error}") from None


def rounding(dtype: np.dtype) -> float:
    if not mlir.inexact(dtype):
        return 0.0
    return (2 if dtype.itemsize < 4 else 100) * epsilon(dtype)


def test_hip_compiles() -> None:
    functions = FUNCTIONS[:: 20 if EVERYTHING else 250]
    for i in range(0, len(functions), IN_ONE_MODULE):
        _, ready, _ = lowered(functions[i : i + IN_ONE_MODULE])
        assert iree.compile(mlir.bytecode(ready), target="iree-hip").startswith(b"PK")
