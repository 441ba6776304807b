"""The table of errors of functions: what is measured, and how it is told."""

import xml.dom.minidom
from pathlib import Path

import mpmath
import numpy as np
from benchmarks import accuracy
from tests.frontend.derivative_functions import SUBJECTS

import irax.numpy as jnp

ROOT = Path(__file__).parents[1]
ERRORS = {
    ("exp", "float32", "irax"): (0.9, 0.2),
    ("exp", "float32", "JAX"): (1.9, 0.3),
    ("log", "float32", "irax"): (3.0, 0.2),
    ("log", "float32", "JAX"): (np.inf, 0.2),
    ("log", "bfloat16", "irax"): (0.5, 0.1),
    ("log", "bfloat16", "JAX"): (0.5, 0.1),
}


def test_errors_are_in_units_in_the_last_place():
    exact = [mpmath.mpf(1), mpmath.mpf(3)]
    worst, mean = accuracy.errors_of([[1 + 2.0**-23, 3], [1, 3]], exact, "float32")
    assert (worst, mean) == (1, 0.5)
    assert accuracy.errors_of([[np.nan, 3]], exact, "float32")[0] == np.inf


def test_functions_that_a_library_lacks_are_left_out(capsys):
    def run(function, x):
        return [np.asarray(function(x))]

    (subject,) = (s for s in SUBJECTS if s.name == "exp")
    places = {f"exp {d}": [1.0] for d in accuracy.DTYPES if d != "float64"}
    found = accuracy.measured_by([subject], places, run)
    assert sorted(found) == ["exp bfloat16", "exp float16", "exp float32"]
    assert found["exp float32"] == [[float(jnp.exp(np.float32(1)))]]
    assert "exp float64: KeyError" in capsys.readouterr().err


def test_page():
    text = accuracy.page(["exp", "log"], ERRORS)
    assert "| `exp` | 0.9 (0.2) | 1.9 (0.3) |  |  |" in text
    assert "| `log` | 3 (0.2) | wrong |  |  |" in text
    assert (
        "- float32: of 2 functions 1 are within 2 units, 2 within 4; JAX's error is larger" in text
    )
    assert text.startswith("# Errors of functions")


def test_picture():
    drawn = xml.dom.minidom.parseString(accuracy.picture(["exp", "log"], ERRORS))
    assert len(drawn.getElementsByTagName("circle")) == 4 + 4


def test_the_page_has_all_functions():
    text = (ROOT / "docs" / "reports" / "accuracy.md").read_text()
    for dtype in accuracy.DTYPES:
        part = text.partition(f"## {dtype}\n")[2].partition("\n## ")[0]
        assert [s.name for s in SUBJECTS if f"| `{s.name}` |" not in part] == []
