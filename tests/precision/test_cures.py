"""Cures: the change of an expression that a report suggests, where there is one."""

import pytest
from tests.precision import losing_arrays as losing_arrays  # its cases, too
from tests.precision import losing_sums as losing_sums
from tests.precision.losing_programs import CASES
from tests.precision.test_losing_programs import report_of

import irax.numpy as jnp

PRODUCTS = (
    "a * d - b * c  ->  the same in float64, or with the rounding errors of both products added "
    "(by an fma)"
)
STEP = (
    "compensated: t = total + x; z = t - total; c += (total - (t - z)) + (x - z); total = t; "
    "at the end total + c"
)
SUM = f"sum(x)  ->  the same in float64, or {STEP}"
IN_A_LOOP = f"total + x in a loop  ->  the same in float64, or {STEP}"
DOT = (
    "dot(x, y)  ->  the same in a wider type, or with the rounding errors of products added "
    "(by an fma)"
)
DISTANCES = "sum(x * x) - 2 * dot(x, y) + sum(y * y)  ->  sum((x - y)**2)"
CURES = {
    "logarithm_near_one": "log(1 + x)  ->  log1p(x)",
    "logarithm_in_float64": "log(1 + x)  ->  log1p(x)",
    "slope_of_softplus": "",
    "exponential_less_one": "exp(x) - 1  ->  expm1(x)",
    "average_growth": "exp(x) - 1  ->  expm1(x)",
    "kahan_cosine": "1 - cos(x)  ->  2 * sin(x / 2)**2",
    "complement_of_erf": "1 - erf(x)  ->  erfc(x)",
    "complement_of_logistic": "1 - sigmoid(x)  ->  sigmoid(-x)",
    "difference_of_squares": "x * x - y * y  ->  (x - y) * (x + y)",
    "difference_of_roots": "sqrt(x) - sqrt(y)  ->  (x - y) / (sqrt(x) + sqrt(y))",
    "hyperbolic_sine": "(exp(x) - exp(-x)) / 2  ->  sinh(x)",
    "variance": "mean(x * x) - mean(x)**2  ->  mean((x - mean(x))**2)",
    "fast_layer_norm": "mean(x * x) - mean(x)**2  ->  mean((x - mean(x))**2)",
    "determinant": PRODUCTS,
    "cross_product": PRODUCTS,
    "squared_distance": DISTANCES,
    "distances_of_clusters": DISTANCES,
    "inverse_of_hilbert": "inv(a) @ b  ->  solve(a, b)",
    "log_sum_exp": "log(sum(exp(x)))  ->  logsumexp(x)",
    "log_cosh": "log(cosh(x))  ->  logaddexp(x, -x) - log(2)",
    "cross_entropy_in_bfloat16": "log(exp(x) / sum(exp(x)))  ->  log_softmax(x)",
    "length": "sqrt(x * x + y * y)  ->  hypot(x, y)",
    "unit_vector": "sqrt(sum(x * x))  ->  s * sqrt(sum((x / s)**2)), with s = max(abs(x))",
    "norm_in_float16": "sqrt(sum(x * x))  ->  s * sqrt(sum((x / s)**2)), with s = max(abs(x))",
    "angle": "arccos(dot(x, y) / (|x| |y|))  ->  arctan2(|cross(x, y)|, dot(x, y))",
    "sum_in_bfloat16": "total + x in a loop of bfloat16  ->  sum(x), or a total in float32",
    "difference_of_reciprocals": "1 / x - 1 / y  ->  (y - x) / (x * y)",
    "finite_difference": "sin(x) - sin(y)  ->  2 * cos((x + y) / 2) * sin((x - y) / 2)",
    "arctangents": "arctan(x) - arctan(y)  ->  arctan2(x - y, 1 + x * y)",
    "archimedes": "sqrt(1 + x) - 1  ->  x / (sqrt(1 + x) + 1)",
    "root_less_one": "sqrt(1 + x) - 1  ->  x / (sqrt(1 + x) + 1)",
    "leapfrog_energy": IN_A_LOOP,
    "sum_in_a_loop": IN_A_LOOP,
    "sum_of_cancelling_terms": SUM,
    "mean_of_cancelling_terms": SUM,
    "counted_sum_in_bfloat16": "total + x in a loop of bfloat16  ->  sum(x), or a total in float32",
    "dot_of_near_perpendicular_vectors": DOT,
    "dot_that_cancels": DOT,
    "difference_of_energies": "dot(x, x) - dot(y, y)  ->  dot(x - y, x + y)",
    "discriminant": PRODUCTS,
    "normal_equations": "solve(a.T @ a, a.T @ b)  ->  lstsq(a, b)[0]",
    "logarithm_of_the_rest": "log(1 - x)  ->  log1p(-x)",
    "logarithm_of_one_less_exponential": "log(1 - exp(x))  ->  log(-expm1(x))",
    "difference_of_logarithms": "log(x) - log(y)  ->  log1p((x - y) / y)",
    "difference_of_exponentials": "exp(x) - exp(y)  ->  exp(y) * expm1(x - y)",
    "difference_of_cosines": "cos(x) - cos(y)  ->  -2 * sin((x + y) / 2) * sin((x - y) / 2)",
    "absorbed_light": "1 - exp(x)  ->  -expm1(x)",
    "logistic_by_quotient": "exp(x) / (1 + exp(x))  ->  sigmoid(x)",
    "shares_of_scores": "exp(x) / sum(exp(x))  ->  softmax(x)",
    "softplus_of_large_numbers": "log1p(exp(x))  ->  logaddexp(x, 0)",
    "likelihood_by_product": "log(prod(x))  ->  sum(log(x))",
    "covariance": "mean(x * y) - mean(x) * mean(y)  ->  mean((x - mean(x)) * (y - mean(y)))",
    "sum_of_squares_about_the_mean": "sum(x * x) - sum(x)**2 / n  ->  sum((x - mean(x))**2)",
    "direction_by_dot": "sqrt(sum(x * x))  ->  s * sqrt(sum((x / s)**2)), with s = max(abs(x))",
    "logarithm_of_sigmoid": "log(sigmoid(x))  ->  log_sigmoid(x)",
    "mean_in_float16": "total + x in a loop of float16  ->  sum(x), or a total in float32",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_suggested_changes(case):
    report = report_of(case.program, case.args)
    found = [str(cure) for line in report.lines for cure in line.cures]
    assert found == [c for c in [CURES.get(case.name)] if c]
    assert all(cure in str(report) for cure in found)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", [c for c in CASES if c.cure], ids=lambda case: case.name)
def test_none_where_digits_hold(case):
    report = report_of(case.cure, case.args)
    assert not any(line.cures for line in report.lines)


def test_solving_instead_of_the_inverse():
    """The system has few digits for either, and more for the one."""
    (case,) = (c for c in CASES if c.name == "inverse_of_hilbert")
    inverse, solved = (report_of(f, case.args) for f in (case.program, jnp.linalg.solve))
    assert solved.digits > inverse.digits + 0.5
