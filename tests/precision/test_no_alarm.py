"""irax.precision on programs without trouble: the functions of irax.numpy and others, as their
tables call them. It reports that their digits hold.
"""

import pytest
from tests.frontend import lax_cases, linalg_cases, nn_cases, numpy_cases, scipy_cases
from tests.frontend.case_checks import bound
from tests.frontend.numpy_operands import CASES

import irax

TABLES = (lax_cases, linalg_cases, nn_cases, numpy_cases, scipy_cases)
NAMES = sorted({case.full_name for case in CASES if case.traced})


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", NAMES)
def test_digits_hold(name):
    for case in CASES:
        if case.full_name == name and case.traced:
            call, arrays = bound(case, 0)
            report = irax.precision(lambda *given: call(case.function, given))(*arrays)  # noqa: B023
            assert report.holds, report
