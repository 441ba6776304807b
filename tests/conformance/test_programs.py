"""Random programs in irax beside NumPy, and programs that other compilers get wrong."""

from __future__ import annotations

import numpy as np
import pytest
from tests.conformance import elsewhere
from tests.conformance.elsewhere import Elsewhere
from tests.conformance.programs import KINDS, compiled, drawn, evaluated, problem
from tests.sampling import ALL_FORMS

from irax_compiler import lowering, mlir, targets
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_runtime.iree.cpu import cpu

COUNT = 60 if ALL_FORMS else 6
ELSEWHERE = pytest.mark.parametrize("program", elsewhere.all_programs(), ids=lambda p: p.name)


@pytest.mark.parametrize("kind", KINDS)
def test_random_programs_in_the_evaluator(kind: str) -> None:
    programs = [drawn(kind, 3, number) for number in range(COUNT)]
    found = zip(programs, evaluated(programs), strict=True)
    assert [f"{p.name}: {told}" for p, results in found if (told := problem(p, results))] == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_random_programs_on_the_cpu(kind: str) -> None:
    programs = [drawn(kind, 4, number) for number in range(COUNT)]
    found = zip(programs, compiled(programs), strict=True)
    assert [f"{p.name}: {told}" for p, results in found if (told := problem(p, results))] == []


@ELSEWHERE
def test_programs_that_are_wrong_elsewhere_are_right_in_the_evaluator(program: Elsewhere) -> None:
    found = Evaluator(mlir.parse_module(program.module()))("main", program.operands)
    for result, right in zip(found, program.expected(), strict=True):
        np.testing.assert_array_equal(result, right)


@pytest.mark.slow
@ELSEWHERE
def test_programs_that_are_wrong_elsewhere_are_right_on_the_cpu(program: Elsewhere) -> None:
    module = lowering.lower(mlir.parse_module(program.module()), "main", "iree-cpu", is_direct=True)
    executable = cpu().load(targets.compile(module, "iree-cpu"), "main")
    found = executable([cpu().put(x) for x in program.operands])
    for result, right in zip(found, program.expected(), strict=True):
        np.testing.assert_array_equal(result.numpy(), right)


def test_the_page_has_all_programs() -> None:
    assert elsewhere.PAGE.read_text("utf-8") == elsewhere.page()
