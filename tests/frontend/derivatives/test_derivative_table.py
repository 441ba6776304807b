"""The accuracy of derivatives beside mpmath: docs/reports/derivative-accuracy.md."""

import numpy as np
import pytest

pytest.importorskip("mpmath", reason="compares with mpmath")
from tests.frontend.derivatives import derivative_table as table
from tests.frontend.derivatives.derivative_functions import PAIRS, SUBJECTS

ALL = {subject.name: subject for subject in (*SUBJECTS, *PAIRS)}
SAMPLE = ["expm1", "tanh", "arcsinh", "sigmoid", "squareplus", "spence", "power", "arctan2"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SAMPLE)
def test_derivatives_of_a_sample_are_accurate(name):
    value, *derivatives = table.measured(ALL[name], np.dtype(np.float32), count=12)
    assert value <= table.LIMIT_OF_VALUES
    assert max(derivatives) <= table.LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("dtype", table.DTYPES, ids=str)
@pytest.mark.parametrize("name", sorted(ALL.keys() - table.REASONS.keys()))
def test_derivatives_are_accurate(name, dtype):
    value, *derivatives = table.measured(ALL[name], dtype)
    assert value <= table.LIMIT_OF_VALUES
    assert max(derivatives) <= table.LIMIT


def test_the_page_has_every_function():
    rows = [line for line in table.PATH.read_text().splitlines() if line.startswith("| `")]
    names = [row.split("`")[1] for row in rows]
    assert names == list(ALL)
    marked = {row.split("`")[1] for row in rows if row.split("`")[2].startswith("*")}
    assert marked == table.REASONS.keys()


def test_what_is_above_the_limit_is_found():
    info = np.finfo(np.float32)
    ulp = float(info.eps)
    exact = table.mp.mpf(1)
    assert table.error(1 + 9 * ulp, exact, 1, info) == pytest.approx(9)
    assert table.error(1 + 9 * ulp, exact, 3, info) == pytest.approx(3)
    assert table.error(float("nan"), exact, 1, info) == float("inf")
