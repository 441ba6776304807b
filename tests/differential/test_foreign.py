"""Modules that irax did not make, on the evaluator and on IREE: the right numbers, or an error that
names the operation. It needs JAX (`make oracle`): one function of each of its primitives, and
thousands with IRAX_SWEEP=1 (`make sweep`).
"""

import os

import numpy as np
import pytest
from tests.differential import foreign
from tests.differential.harness import assert_near, epsilon

from irax_compiler import mlir
from irax_compiler.lowering import check, lower
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.targets.cpu import CPU
from irax_runtime.iree.cpu import cpu

pytest.importorskip("jax", reason="JAX, the oracle, is not installed")
pytest.importorskip("absl", reason="absl-py, which JAX's list of functions needs, is not installed")

REFUSED = ("stablehlo.custom_call of",)
"""Kernels of XLA's, such as LAPACK's for its CPU."""

CHOSEN = foreign.everything() if "IRAX_SWEEP" in os.environ else foreign.sample()


functions = pytest.mark.parametrize("function", CHOSEN, ids=map(str, CHOSEN))


@functions
def test_foreign_module(function: foreign.Foreign) -> None:
    text, arguments, expected = function.lowered()
    module = mlir.parse_module(text)
    if refusal := refused(module):
        assert refusal.startswith(REFUSED)
        with pytest.raises(UnsupportedOp):
            lower(module)
        pytest.skip(refusal)
    found = Evaluator(module)("main", arguments)
    if function.is_determined:
        assert_agree(found, expected)


@pytest.mark.sampled(6)
@functions
def test_foreign_module_on_iree(function: foreign.Foreign) -> None:
    text, arguments, expected = function.lowered()
    module = mlir.parse_module(text)
    if refusal := refused(module):
        pytest.skip(refusal)
    artefact = CPU.compile_text(mlir.bytecode(lower(module)))
    buffers = cpu().load(artefact, "main")([cpu().put(a) for a in arguments])
    if function.is_determined:
        assert_agree([b.numpy() for b in buffers], expected)


def refused(module: mlir.Module) -> str:
    """Why irax does not run the module; empty if it does."""
    try:
        check(module)
    except UnsupportedOp as error:
        return str(error)
    return ""


def assert_agree(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    for result, value in zip(found, expected, strict=True):
        assert result.dtype == value.dtype
        if mlir.inexact(value.dtype):
            wide = np.complex128 if value.dtype.kind == "c" else np.float64
            assert_near(result.astype(wide), value.astype(wide), 20 * epsilon(value.dtype))
        else:
            np.testing.assert_array_equal(result, value)
