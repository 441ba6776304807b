"""Random functions, simplified: the values stay.

Numbers are small integers, infinities and nan, and one factor of a product was not computed, so
that arithmetic is exact in whatever order sums are added up.
"""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.differential.programs import EXACT, random_arguments, random_program

from irax_compiler.evaluate import Evaluator
from irax_compiler.pipeline import run_pipeline

NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, -3.0, np.inf, -np.inf, np.nan])


@settings(max_examples=100)
@given(st.data())
def test_values_stay(data: st.DataObject):
    module = random_program(data.draw, EXACT, NUMBERS)
    arrays = random_arguments(data.draw, module, NUMBERS)
    before = Evaluator(module)("main", arrays)
    run_pipeline(module, "simplify")
    after = Evaluator(module)("main", arrays)
    for b, a in zip(before, after, strict=True):
        assert b.shape == a.shape
        np.testing.assert_array_equal(b, a)
    once = str(module)
    run_pipeline(module, "simplify")
    assert str(module) == once
