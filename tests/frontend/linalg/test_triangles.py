"""Cholesky factorizations and triangular solves, in kernels of loops and of their own, beside
SciPy.
"""

import itertools

import numpy as np
import pytest
import scipy.linalg
from tests.frontend.control_flow.test_fast_loops import is_kernel, lowered

import irax
import irax.numpy as jnp
import irax.scipy.linalg as linalg
from irax import lax
from irax.core.dispatch import bind
from irax_compiler.ops.linalg.triangular import Cholesky

RNG = np.random.default_rng(0)
FORMS = list(itertools.product((True, False), repeat=4))
TOLERANCES = {np.float32: 2e-5, np.float64: 1e-12}


@pytest.fixture(autouse=True)
def doubles():
    with irax.enable_x64(True):
        yield


def in_loop(f):
    """A function that computes the same in each step of a loop, jitted."""

    def looped(*args):
        out = irax.eval_shape(f, *args)
        start = (0, args, jnp.zeros(out.shape, out.dtype))
        return lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, c[1], f(*c[1])), start)[2]

    return irax.jit(looped)


PLACES = {"loop": in_loop, "alone": irax.jit}


def positive(*extents, dtype=np.float32):
    """Random matrices that have a Cholesky factor."""
    x = RNG.standard_normal((*extents, extents[-1]))
    return (x @ np.swapaxes(x, -1, -2) / extents[-1] + np.eye(extents[-1])).astype(dtype)


def other_triangle(x, number, lower=True, offset=0):
    """The matrix with a number where it does not count."""
    counts = np.tri(x.shape[-1], k=offset, dtype=bool)
    return np.where(counts if lower else counts.T, x, np.array(number, x.dtype))


def factor_of(lower):
    return lambda x: bind(Cholesky(lower), x)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("lower", (True, False))
@pytest.mark.parametrize("n, place", [(5, "loop"), (17, "loop"), (18, "alone")])
def test_factors(n, place, lower, dtype):
    x = positive(2, n, dtype=dtype)
    found = PLACES[place](factor_of(lower))(other_triangle(x, np.nan, lower))
    expected = [scipy.linalg.cholesky(each, lower=lower) for each in x]
    np.testing.assert_allclose(found, expected, atol=TOLERANCES[dtype])


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("n", (1, 2, 3, 4, 15, 16, 31, 33, 64, 100, 128))
def test_factors_of_all_sizes(n, place):
    x = positive(3, n)
    found = PLACES[place](factor_of(True))(x)
    np.testing.assert_allclose(found, np.linalg.cholesky(x.astype(float)), atol=5e-5)


@pytest.mark.parametrize("place", PLACES)
def test_a_matrix_that_is_not_positive_definite_has_a_factor_of_nan(place):
    x = positive(4, 18)
    x[0, 17, 17] = 0
    x[1, 3, 3] = -1
    x[2, 17, 0] = np.nan
    found = np.asarray(PLACES[place](factor_of(True))(x))
    below = np.tri(18, dtype=bool)
    assert np.isnan(found[:3][:, below]).all()
    np.testing.assert_array_equal(found[:3][:, ~below], 0)
    np.testing.assert_allclose(found[3], np.linalg.cholesky(x[3]), atol=2e-5)


def solved(a, b, left, lower, turned, unit):
    """The solution, by SciPy."""
    if not left:  # X A = B is A^T X^T = B^T
        return solved(a, b.T, True, lower, not turned, unit).T
    return scipy.linalg.solve_triangular(a, b, trans=int(turned), lower=lower, unit_diagonal=unit)


def check_solves(n, sides, dtype, forms, place):
    a = (RNG.standard_normal((2, n, n)) / n + 2 * np.eye(n)).astype(dtype)
    for left, lower, turned, unit in forms:
        b = RNG.standard_normal((2, n, sides) if left else (2, sides, n)).astype(dtype)

        def solve(a, b, left=left, lower=lower, turned=turned, unit=unit):
            return lax.linalg.triangular_solve(
                a, b, left_side=left, lower=lower, transpose_a=turned, unit_diagonal=unit
            )

        garbage = other_triangle(a, np.nan, lower, -1 if unit else 0)
        found = PLACES[place](solve)(garbage, b)
        expected = [solved(*each, left, lower, turned, unit) for each in zip(a, b, strict=True)]
        np.testing.assert_allclose(found, expected, atol=TOLERANCES[dtype])


@pytest.mark.parametrize(
    "n, sides, dtype, form, place",
    [
        (17, 1, np.float32, 0, "loop"),
        (17, 2, np.float64, 5, "loop"),
        (6, 20, np.float32, 6, "loop"),
        (5, 70, np.float32, 11, "loop"),
        (18, 1, np.float32, 3, "alone"),
        (6, 7, np.float64, 8, "alone"),
    ],
)
def test_solves(n, sides, dtype, form, place):
    check_solves(n, sides, dtype, FORMS[form : form + 1], place)


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("n, sides", [(1, 1), (2, 3), (16, 1), (33, 2), (17, 20), (20, 130)])
def test_solves_of_all_forms(n, sides, dtype, place):
    check_solves(n, sides, dtype, FORMS, place)


def test_workgroups_share_many_matrices():
    x, b = positive(700, 9), RNG.standard_normal((700, 9, 3)).astype(np.float32)

    def solve(x, b):
        factor = jnp.linalg.cholesky(x)
        return lax.linalg.triangular_solve(factor, b, left_side=True, lower=True)

    expected = np.linalg.solve(np.linalg.cholesky(x.astype(float)), b)
    np.testing.assert_allclose(irax.jit(solve)(x, b), expected, atol=1e-4)
    assert "irax_host" not in lowered(solve, x, b)


def test_a_zero_on_the_diagonal_divides():
    a = np.tril(np.ones((6, 6), np.float32))
    a[2, 2] = 0
    solve = in_loop(lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True))
    found = solve(a, np.arange(1, 7, dtype=np.float32)[:, None])
    np.testing.assert_array_equal(np.asarray(found)[:, 0], [1, 1, np.inf, -np.inf, np.nan, np.nan])


def steps(x, b):
    """Newton steps that solve equations by factors."""

    def step(b, _):
        factors = linalg.cho_factor(x + 0.1 * jnp.outer(b, b))
        return jnp.sin(linalg.cho_solve(factors, b + 1)), b.sum()

    return lax.scan(step, b, None, length=3)


def by_hand(x, b):
    sums = []
    for _ in range(3):
        sums.append(b.sum())
        b = np.sin(np.linalg.solve(x + 0.1 * np.outer(b, b), b + 1))
    return b, np.array(sums)


def test_steps_that_solve_equations_are_a_kernel():
    x, b = positive(7), RNG.standard_normal(7).astype(np.float32)
    assert is_kernel(steps, x, b)
    for found, expected in zip(irax.jit(steps)(x, b), by_hand(x, b), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_batch_of_steps_is_a_kernel():
    x, b = positive(3, 7), RNG.standard_normal((3, 7)).astype(np.float32)
    assert is_kernel(irax.vmap(steps), x, b)
    found, _ = irax.jit(irax.vmap(steps))(x, b)
    expected = [by_hand(*each)[0] for each in zip(x, b, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_eliminations_of_few_rows_are_part_of_a_kernel():
    x = RNG.standard_normal((8, 8)).astype(np.float32)
    x[0, 0] = 0  # what needs a pivot

    def step(_, b):
        return jnp.sin(jnp.linalg.solve(x + jnp.outer(b, b), b + 1))

    def solve(b):
        return lax.fori_loop(0, 3, step, b)

    expected = b = RNG.standard_normal(8).astype(np.float32)
    for _ in range(3):
        matrix = x + np.outer(expected, expected).astype(float)
        expected = np.sin(np.linalg.solve(matrix, expected + 1.0))
    assert is_kernel(solve, b)
    np.testing.assert_allclose(irax.jit(solve)(b), expected, atol=2e-4)


def along_a_line():
    """The steps as a function of a number, with irax and by hand."""
    x, b = positive(5, dtype=np.float64), RNG.standard_normal(5)
    along, other = RNG.standard_normal((2, 5))

    def value(t):
        return (steps(x, b + t * along)[0] * other).sum()

    return value, lambda t: by_hand(x, b + t * along)[0] @ other


def test_derivatives_of_steps():
    value, number = along_a_line()
    h = 1e-3
    expected = (8 * (number(h) - number(-h)) - number(2 * h) + number(-2 * h)) / (12 * h)
    np.testing.assert_allclose(irax.jit(irax.grad(value))(0.0), expected, rtol=1e-7)
    assert is_kernel(irax.grad(value), 0.0)


@pytest.mark.slow
def test_second_derivatives_of_steps():
    value, number = along_a_line()
    h = 1e-3
    near, far = number(h) + number(-h), number(2 * h) + number(-2 * h)
    expected = (16 * near - far - 30 * number(0.0)) / (12 * h * h)
    found = irax.jit(irax.grad(irax.grad(value)))(0.0)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("batch", [(), (3,)], ids=str)
@pytest.mark.parametrize("n", [3, 5, 6, 8])
def test_systems_of_computed_matrices(n, batch):
    """Solved in the kernels that compute both sides, or beside them."""
    rng = np.random.default_rng(n)
    x, b = (rng.standard_normal((*batch, n, n)).astype(np.float32) for _ in "xb")
    near = np.eye(n) + x / (2 * n**0.5)
    expected = np.linalg.solve(near, np.sin(b.astype(float)))
    fused = irax.jit(lambda x, b: jnp.linalg.solve(jnp.eye(n) + x / (2 * n**0.5), jnp.sin(b)))
    np.testing.assert_allclose(fused(x, b), expected, rtol=1e-3, atol=1e-4)
    alone = irax.jit(jnp.linalg.solve)(near.astype(np.float32), np.sin(b))
    np.testing.assert_allclose(alone, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("batch", [(), (3,)], ids=str)
@pytest.mark.parametrize("n", [3, 5, 8])
def test_solves_behind_factorizations(n, batch):
    """A factorization and two solves, one after the other, of what other operations compute."""
    rng = np.random.default_rng(n)
    x, b = (rng.standard_normal((*batch, n, n)).astype(np.float32) for _ in "xb")
    near = np.eye(n) + x / (2 * n**0.5)
    side = np.sin(b.astype(float))

    def by_lu(x, b):
        near = jnp.eye(n) + x / (2 * n**0.5)
        return linalg.lu_solve(linalg.lu_factor(near), jnp.sin(b)), jnp.linalg.solve(near, b)

    def by_cholesky(x, b):
        near = jnp.eye(n) + x / (2 * n**0.5)
        square = near @ jnp.swapaxes(near, -1, -2)
        return linalg.cho_solve(linalg.cho_factor(square), jnp.sin(b))

    found, beside = irax.jit(by_lu)(x, b)
    np.testing.assert_allclose(found, np.linalg.solve(near, side), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(beside, np.linalg.solve(near, b), rtol=1e-3, atol=1e-4)
    square = near @ np.swapaxes(near, -1, -2)
    expected = np.linalg.solve(square, side)
    np.testing.assert_allclose(irax.jit(by_cholesky)(x, b), expected, rtol=1e-2, atol=1e-3)
