"""Components of random functions as calls: the values stay."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.differential.random.programs import EXACT, random_arguments, random_program

import irax
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.pipeline import run_pipeline

NUMBERS = st.sampled_from([0.0, 1.0, -1.0, 2.0, -3.0, np.inf, np.nan])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("many", [1, 2])
@settings(max_examples=50)
@given(st.data())
def test_values_stay(many: int, data: st.DataObject) -> None:
    module = random_program(data.draw, EXACT, NUMBERS)
    arrays = random_arguments(data.draw, module, NUMBERS)
    before = Evaluator(module)("main", arrays)
    run_pipeline(module, f"outline-components{{most=0 bound=4 many={many}}}")
    for b, a in zip(before, Evaluator(module)("main", arrays), strict=True):
        np.testing.assert_array_equal(b, a)


def test_constants_of_complex_numbers() -> None:
    """The bindings have no class for them."""
    x = np.array([1 + 2j, 3], np.complex64)
    factors = np.array([2j, 1], np.complex64)
    found = irax.jit(lambda xs: [x * factors for x in xs])([x] * 150)
    np.testing.assert_array_equal(found, [x * factors] * 150)
