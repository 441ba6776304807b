"""The table of errors of functions: what is measured, and how it is told."""

import xml.dom.minidom
from pathlib import Path

import mpmath
import numpy as np
import pytest
from benchmarks import accuracy
from tests.frontend.derivatives.derivative_functions import SUBJECTS
from tests.frontend.derivatives.derivative_table import slopes

import irax
import irax.numpy as jnp

ROOT = Path(__file__).parents[1]
ERRORS = {
    ("exp", "float32", 0, "irax"): (0.9, 0.2),
    ("exp", "float32", 0, "jit"): (0.8, 0.2),
    ("exp", "float32", 0, "JAX"): (1.9, 0.3),
    ("exp", "float32", 1, "jit"): (0.7, 0.2),
    ("log", "float32", 0, "irax"): (2.9, 0.2),
    ("log", "float32", 0, "jit"): (3.0, 0.2),
    ("log", "float32", 0, "JAX"): (np.inf, 0.2),
    ("log", "bfloat16", 0, "irax"): (0.5, 0.1),
    ("log", "bfloat16", 0, "JAX"): (0.5, 0.1),
}


def test_errors_are_in_units_in_the_last_place():
    exact = [mpmath.mpf(1), mpmath.mpf(3)]
    assert accuracy.errors_of([1 + 2.0**-23, 3], exact, "float32") == (1, 0.5)
    assert accuracy.errors_of([np.nan, 3], exact, "float32")[0] == np.inf
    assert accuracy.errors_of([0.125 + 2.0**-12], [mpmath.mpf(0.125)], "float16")[0] == 2


def test_functions_that_a_library_lacks_are_left_out(capsys):
    def run(function, x):
        if x.dtype == np.float16:
            raise TypeError
        return np.asarray(function(x))

    (subject,) = (s for s in SUBJECTS if s.name == "exp")
    places = {f"exp {d}": [1.0] for d in accuracy.DTYPES}
    found = accuracy.measured_by("NumPy", [subject], places, [run])
    with irax.enable_x64():
        assert found["exp float32 0 NumPy"] == [float(jnp.exp(np.float32(1)))]
    assert sorted(found) == ["exp float32 0 NumPy", "exp float64 0 NumPy"]
    assert "NumPy, exp float16 0: TypeError" in capsys.readouterr().err


def test_derivatives_are_compared_with_exact_ones():
    (subject,) = (s for s in SUBJECTS if s.name == "log")
    (values, slopes) = accuracy.exact_at(subject, [2.0], "float32")
    assert (float(values[0]), float(slopes[0])) == (np.log(2), 0.5)
    _, slope = accuracy._of_irax()
    assert np.asarray(slope(subject.function, np.array([2], np.float32))).tolist() == [0.5]


@pytest.mark.slow
def test_one_program_has_all_functions_of_a_dtype():
    subjects = [s for s in SUBJECTS if s.name in ("exp", "log")]
    places = {f"{s.name} {d}": [1.0, 2.0] for s in subjects for d in accuracy.DTYPES}
    found = accuracy.measured_together("jit", subjects, places)
    assert len(found) == 2 * 2 * len(accuracy.DTYPES)
    np.testing.assert_allclose(found["exp float32 0 jit"], np.exp([1, 2]), rtol=1e-6)
    np.testing.assert_allclose(found["log float64 1 jit"], [1, 0.5], rtol=1e-15)


def test_page():
    text = accuracy.page(["exp", "log"], ERRORS)
    assert "| `exp` | 0.9 (0.2) | 0.8 (0.2) |  |  | 1.9 (0.3) |  |  |" in text
    assert "| `log` | 2.9 (0.2) | 3 (0.2) |  |  | wrong |  |  |" in text
    assert "- values in float32: of 2 functions 1 are within 2 units, 2 within 4; JAX's" in text
    assert "JAX's error is larger by more than half a unit in 2, smaller in 0" in text
    assert "## Derivatives in float32\n\n| function | irax | jit | Vulkan | XLA | JAX |" in text
    assert "| `exp` |  | 0.7 (0.2) |  |  |  |" in text
    assert text.startswith("# Errors of functions")


def test_picture():
    drawn = xml.dom.minidom.parseString(accuracy.picture(["exp", "log"], ERRORS))
    assert len(drawn.getElementsByTagName("circle")) == 4 + 4


def test_the_page_has_all_functions():
    text = (ROOT / "docs" / "reports" / "accuracy.md").read_text()
    of_derivatives = [f"Derivatives in {dtype}" for dtype in accuracy.DTYPES]
    for heading in (*accuracy.DTYPES, *of_derivatives):
        part = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        assert [s.name for s in SUBJECTS if f"| `{s.name}` |" not in part] == []


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tails_are_within_units(dtype):
    """Roundings of exponents were 20 to 470 units, where exp(-x**2) and its kin are small."""
    x = -np.linspace(2, 9 if dtype == "float32" else 19, 60).astype(dtype)
    by_name = {s.name: s for s in SUBJECTS}
    for name, order in (("gelu", 0), ("gelu", 1), ("erf", 1), ("erfc", 1)):
        function = by_name[name].function
        exact = accuracy.exact_at(by_name[name], x.tolist(), dtype)[order]
        with irax.enable_x64():
            if order:
                function = irax.grad(lambda x, f=function: f(x).sum())
            for run in (function, irax.jit(function)):
                found = np.asarray(run(jnp.asarray(x))).tolist()
                assert accuracy.errors_of(found, exact, dtype)[0] < (8 if name == "gelu" else 4)


def test_second_derivative_of_gelu_keeps_its_digits_on_both_sides():
    """1 - share has no digits where the share is nearly 1."""
    (subject,) = (s for s in SUBJECTS if s.name == "gelu")
    x = np.array([-6.0, -3.0, 3.0, 6.0, 3e38, -3e38], np.float32)
    exact = [slopes(subject, v, False)[1] for v in x.tolist()]
    first = irax.grad(lambda x: subject.function(x).sum())
    second = irax.grad(lambda x: first(x).sum())
    for run in (second, irax.jit(second)):
        assert (
            accuracy.errors_of(np.asarray(run(jnp.asarray(x))).tolist(), exact, "float32")[0] < 64
        )
