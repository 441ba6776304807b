"""Every case, its derivatives and its batched forms, on XLA's PJRT plugin for CPU, against the
evaluator. By default a third of the forms that test_iree.py takes; all with IRAX_ALL_FORMS=1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from tests.differential.harness import Arrays, assert_near, epsilon
from tests.differential.test_iree import MODULES, Function
from tests.runtime.pjrt.pjrt_programs import device, needs_plugin
from tests.sampling import ALL_FORMS

from irax_compiler import mlir
from irax_compiler.lowering import lower
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.pipeline import run_pipeline
from irax_compiler.targets import pjrt

pytestmark = needs_plugin


def expected_of(module: mlir.Module, function: Function, name: str, arrays: Arrays) -> Arrays:
    """The evaluator's results. Factorizations are unique up to signs, which LAPACK chooses
    otherwise than what they are made of, and what runs here.
    """
    if function.case.family == "factorizations":
        run_pipeline(module, "decompose")
    return Evaluator(module)(name, arrays)


def is_refused(function: Function) -> bool:
    """Return True if it needs Python functions, or LAPACK's that have no decomposition."""
    case = function.case
    by_lapack_alone = case.name.startswith(("eig-", "schur")) or case.name == "eig"
    return case.family == "callback" or (case.family == "factorizations" and by_lapack_alone)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("functions", MODULES.values(), ids=MODULES)
def test_pjrt_agrees_with_the_evaluator(functions: Sequence[Function]) -> None:
    wrong = []
    for function in functions[:: 1 if ALL_FORMS else 3]:
        module = mlir.new_module()
        name = function.add_to(module, "f")
        if is_refused(function):
            with pytest.raises(UnsupportedOp):
                pjrt.artefact(lower(module, name, "pjrt"))
            continue
        arrays = function.arguments()
        program = device().load(pjrt.artefact(lower(module, name, "pjrt")), name)
        results = program([device().put(a) for a in arrays])
        expected = expected_of(module, function, name, arrays)
        try:
            for result, value in zip(results, expected, strict=True):
                assert result.dtype == value.dtype
                tolerance = max(function.case.tolerance or 0, _rounding(value.dtype))
                assert_near(result.numpy(), value, tolerance)
        except AssertionError as error:
            wrong.append(f"{function}: {error}")
    assert not wrong, "\n".join(wrong)


def _rounding(dtype: np.dtype) -> float:
    if not mlir.inexact(dtype):
        return 0.0
    return (2 if dtype.itemsize < 4 else 100) * epsilon(dtype)
