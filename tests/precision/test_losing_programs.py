"""irax.precision on programs of which it is known where they lose their digits."""

import contextlib

import mpmath
import numpy as np
import pytest
from tests.precision import losing_arrays as losing_arrays  # its cases, too
from tests.precision import losing_loops as losing_loops
from tests.precision import losing_sums as losing_sums
from tests.precision.losing_programs import CASES, Case, rows

import irax
from irax_compiler.precision.blame import digits_of


def report_of(program, args):
    wide = any(np.asarray(x).dtype == np.float64 for x in args)
    with irax.enable_x64() if wide else contextlib.nullcontext():
        return irax.precision(program)(*args)


def true_digits(case: Case, report) -> float:
    """Digits of the reported element by mpmath."""
    with mpmath.workdps(120):
        truth = case.truth(*map(rows, case.args))
        (result,) = report.results
        wanted = truth[result.index[0]] if result.index else truth
        scale = abs(wanted)
        if result.index:
            scale = max(scale, mpmath.sqrt(mpmath.fsum(x * x for x in truth) / len(truth)))
        narrow = float(result.narrow)
        if not np.isfinite(narrow):
            return 0.0
        apart = abs(mpmath.mpf(narrow) - wanted) / scale
        most = digits_of(result.dtype)
        return most if apart == 0 else float(np.clip(float(-mpmath.log10(apart)), 0, most))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_names_the_line_and_counts_the_digits(case):
    report = report_of(case.program, case.args)
    assert not report.holds, report
    assert report.lines[0].text.endswith("# loses"), report
    assert report.digits == pytest.approx(true_digits(case, report), abs=1), report


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", [c for c in CASES if c.cure], ids=lambda case: case.name)
def test_cure_holds(case):
    report = report_of(case.cure, case.args)
    assert report.holds, report
    assert report.digits == pytest.approx(true_digits(case, report), abs=1), report
