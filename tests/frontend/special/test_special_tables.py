"""Special functions on their whole domains, against mpmath (`special_tables`)."""

import numpy as np
import pytest
from tests.frontend.special.special_tables import TABLES, exact_and_allowed

import irax
import irax.scipy.special as special


@pytest.mark.sampled(3)
@pytest.mark.parametrize("count", [20, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("name", TABLES)
def test_values(name: str, kind: str, count: int) -> None:
    table, ours = TABLES[name], getattr(special, name)
    points = table.points(count, kind)
    rows = np.stack(points, 1).astype(float).tolist()
    expected, allowed = np.array([exact_and_allowed(table, row, kind) for row in rows]).T
    # What overflows is infinite; next to it the rounding decides.
    finite = np.abs(expected) < np.finfo(kind).max / 2
    functions = [ours] if count == 20 and kind == "f8" else [ours, irax.jit(ours)]
    for function in functions:
        with irax.enable_x64(kind == "f8"):
            found = np.asarray(function(*points))
        assert found.dtype == kind
        found = found.astype(float)
        with np.errstate(invalid="ignore"):
            good = np.abs(found - expected) <= allowed
        bad = np.flatnonzero(~good & finite)
        assert not bad.size, [(rows[i], found[i], expected[i], allowed[i]) for i in bad[:5]]
        assert (np.abs(found[~finite]) > np.finfo(kind).max / 8).all()


@pytest.mark.parametrize("name", TABLES)
def test_every_table_of_less_precision_says_why(name: str) -> None:
    assert max(TABLES[name].ulps) <= 8 or TABLES[name].why
