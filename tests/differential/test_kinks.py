"""Derivatives where there is none, or more than one: which number is given."""

import math

import numpy as np
import pytest
from tests.differential.harness import Case, fixed

from irax_compiler.ops import clamp, elementwise
from irax_compiler.ops.core import Op
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.special import chlo_functions
from irax_compiler.pipeline import run_pipeline

INF, NAN = math.inf, math.nan

SCALARS = [
    # Two numbers that are equal share the derivative.
    (elementwise.maximum, (2, 2), 0, 0.5),
    (elementwise.maximum, (2, 2), 1, 0.5),
    (elementwise.minimum, (2, 2), 0, 0.5),
    (elementwise.maximum, (-0.0, 0.0), 0, 0.5),
    (elementwise.maximum, (3, 2), 0, 1),
    (elementwise.maximum, (3, 2), 1, 0),
    (elementwise.abs, (0,), 0, 1),
    (elementwise.sign, (0,), 0, 0),
    (elementwise.floor, (2,), 0, 0),
    (elementwise.sqrt, (0,), 0, INF),
    (elementwise.cbrt, (0,), 0, INF),
    # x ** 0 is 1 for every x; 0 ** y is 0 for every y above 0.
    (elementwise.power, (0, 0), 0, 0),
    # 0 ** y falls from 1 to 0 there.
    (elementwise.power, (0, 0), 1, -INF),
    (elementwise.power, (0, 1), 1, 0),
    (elementwise.power, (0, 2), 0, 0),
    (elementwise.power, (0, 2), 1, 0),
    (elementwise.power, (0, 1), 0, 1),
    (elementwise.power, (-2, 2), 0, -4),
    (elementwise.power, (-2, 2), 1, NAN),
    # x % y is x - n y; 0.3 / 0.1 rounds up to 3, but n is 2.
    (elementwise.remainder, (0.3, 0.1), 1, -2),
    (elementwise.remainder, (-7, 2), 1, 3),
    # Nothing of a clamp passes at its bounds.
    (clamp.clamp, (0, 0, 1), 1, 0),
    (clamp.clamp, (0, 1, 1), 1, 0),
    (clamp.clamp, (0, 0.5, 1), 1, 1),
    (clamp.clamp, (0, -1, 1), 0, 1),
    (clamp.clamp, (0, 2, 1), 2, 1),
    (clamp.clamp, (2, 0, 1), 2, 1),
    (clamp.clamp, (2, 0, 1), 0, 0),
    # The next number moves with x, in whatever direction it is.
    (chlo_functions.next_after, (1, 2), 0, 1),
    (chlo_functions.next_after, (1, 2), 1, 0),
]


def tangent(op: Op, arguments: tuple, wrt: int, direction) -> np.ndarray:
    case = Case("", op, [fixed(a, np.float64) for a in arguments], lambda: None)
    module = case.module()
    run_pipeline(module, f"jvp{{func=main wrt={wrt}}}")
    arrays = case.arrays(case.rng())
    return Evaluator(module)("main.jvp", [*arrays, np.asarray(direction, float)])[1]


@pytest.mark.parametrize(
    "op, arguments, wrt, expected",
    SCALARS,
    ids=[f"{op.name.partition('.')[2]}{arguments}-{wrt}" for op, arguments, wrt, _ in SCALARS],
)
def test_of_scalars(op: Op, arguments: tuple, wrt: int, expected: float) -> None:
    np.testing.assert_equal(float(tangent(op, arguments, wrt, 1)), expected)


def test_all_that_attain_an_extremum_share_its_derivative() -> None:
    x = [[3, 1, 3], [1, 1, 1], [0, 5, 2]]
    direction = [[1, 10, 3], [1, 2, 6], [7, 8, 9]]
    op = reduce.Reduce("maximum", (1,))
    np.testing.assert_allclose(tangent(op, (x, -INF), 0, direction), [2, 3, 8])


def test_an_extremum_that_is_the_init_value_does_not_move() -> None:
    op = reduce.Reduce("minimum", (0,))
    assert tangent(op, ([2, 3], 1), 0, [1, 1]) == 0


def test_a_product_with_zeros_has_a_derivative() -> None:
    op = reduce.Reduce("multiply", (0,))
    assert tangent(op, ([2, 0, 5], 1), 0, [1, 1, 1]) == 10
    assert tangent(op, ([0, 0, 5], 1), 0, [1, 1, 1]) == 0
