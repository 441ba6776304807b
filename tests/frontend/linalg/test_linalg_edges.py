"""irax.numpy.linalg at its edges: singular and empty matrices, equal singular values, batches,
dtypes; and its names, against NumPy and JAX.
"""

import itertools
import math

import numpy as np
import pytest
import scipy.linalg.lapack

import irax
import irax.numpy as jnp
from irax import lax
from irax.test_util import check_grads


@pytest.fixture
def doubles():
    with irax.enable_x64():
        yield


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def close(found, expected) -> None:
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def minors(x: np.ndarray) -> np.ndarray:
    """The derivative of the determinant: each element's cofactor."""
    n = len(x)
    result = np.empty_like(x)
    for i, j in np.ndindex(n, n):
        rest = np.delete(np.delete(x, i, 0), j, 1)
        result[i, j] = (-1) ** (i + j) * np.linalg.det(rest)
    return result


@pytest.mark.usefixtures("doubles")
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_the_determinant_has_a_derivative_at_singular_matrices(n):
    x = drawn(n, n)
    for last in (x[:, -1], x[:, 0], 0 * x[:, 0]):
        x[:, -1] = last
        close(irax.grad(jnp.linalg.det)(x), minors(x))
    close(irax.grad(jnp.linalg.det)(np.zeros((4, 4))), np.zeros((4, 4)))
    diagonal = np.diag([3.0, 2, 0, 1])
    close(irax.grad(jnp.linalg.det)(diagonal), minors(diagonal))


@pytest.mark.usefixtures("doubles")
def test_determinants_have_all_derivatives():
    check_grads(jnp.linalg.det, (drawn(2, 4, 4),), order=2)
    check_grads(jnp.linalg.det, (np.ones((3, 3)),), order=3)
    check_grads(jnp.linalg.slogdet, (drawn(4, 4),), order=2)
    for found, part in zip(
        jnp.linalg.slogdet(drawn(4, 4), method="qr"), np.linalg.slogdet(drawn(4, 4)), strict=True
    ):
        close(found, part)


@pytest.mark.usefixtures("doubles")
@pytest.mark.parametrize(
    "x", [np.eye(3), 2 * np.eye(4)[:, :2], np.diag([1.0, 1, 0]), drawn(2, 4, 3)]
)
def test_pseudo_inverses_of_equal_singular_values(x):
    p = np.linalg.pinv(x)
    close(jnp.linalg.pinv(x), p)
    t = x @ drawn(x.shape[-1], x.shape[-1])  # keeps the rank
    _, slope = irax.jvp(jnp.linalg.pinv, (x,), (t,))
    moved = (np.linalg.pinv(x + 1e-6 * t) - np.linalg.pinv(x - 1e-6 * t)) / 2e-6
    np.testing.assert_allclose(slope, moved, rtol=1e-6, atol=1e-6)
    if x.shape[-1] == np.linalg.matrix_rank(x).min():
        check_grads(jnp.linalg.pinv, (x,), order=2, atol=1e-4, rtol=1e-4)


@pytest.mark.usefixtures("doubles")
def test_least_squares_of_equal_singular_values():
    b = drawn(3)
    found = irax.jacrev(lambda a: jnp.linalg.lstsq(a, b)[0])(np.eye(3))
    close(found, -np.einsum("ij,k->ijk", np.eye(3), b))


@pytest.mark.usefixtures("doubles")
@pytest.mark.parametrize("p", [1, 2, 3, 0.5, np.inf])
def test_norms_at_zero_have_finite_derivatives(p):
    gradient = irax.grad(lambda x: jnp.linalg.norm(x, p))(np.zeros(3))
    assert jnp.isfinite(gradient).all()


@pytest.mark.usefixtures("doubles")
def test_solutions_share_factors_and_have_both_modes():
    a, b = drawn(2, 3, 3), drawn(2, 3, 1)
    check_grads(jnp.linalg.solve, (a, b), order=2, atol=1e-3, rtol=1e-3)
    transposed = irax.linear_transpose(lambda b: jnp.linalg.solve(a, b), b)(b)[0]
    close(transposed, np.linalg.solve(np.swapaxes(a, -1, -2), b))
    close(irax.vmap(jnp.linalg.solve, (None, 0))(a[0], b), np.linalg.solve(a[0], b))


def test_singular_systems_have_no_finite_solution():
    x = jnp.ones((2, 2))
    for solve in (jnp.linalg.solve, irax.jit(jnp.linalg.solve)):
        assert not jnp.isfinite(solve(x, jnp.array([1.0, 2.0]))).any()


@pytest.mark.usefixtures("doubles")
def test_elimination_leaves_columns_without_a_pivot():
    """Small matrices are eliminated in the program, others by LAPACK."""
    x = np.stack([np.zeros((4, 4)), np.eye(4, k=1), np.diag([0.0, 2, 3, 4]), np.ones((4, 4))])
    x[3, :, 1] = [1, 2, 3, 5]
    factors = [scipy.linalg.lapack.dgetrf(a) for a in x]
    with np.errstate(divide="ignore"):
        expected = np.linalg.slogdet(x)
    found = irax.jit(lambda x: (lax.linalg.lu(x)[:2], jnp.linalg.slogdet(x), jnp.linalg.det(x)))(x)
    for i, (factored, pivots, _) in enumerate(factors):
        close(found[0][0][i], factored)
        close(found[0][1][i], pivots)
    close(found[1][0], expected[0])
    close(found[1][1], expected[1])
    close(found[2], np.zeros(4))


FUNCTIONS = ("qr", "svd", "svdvals", "pinv", "matrix_rank")
OF_HERMITIAN = ("eigh", "eigvalsh", "cholesky")
OF_SQUARE = ("det", "inv", "eig", "eigvals", "eigh", "eigvalsh", "cholesky", "slogdet")


@pytest.mark.parametrize("name", [*FUNCTIONS, *OF_SQUARE])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 0, 0), (0, 2, 2)])
def test_empty_matrices(name, shape):
    if name in OF_SQUARE and shape[-1] != shape[-2]:
        error = TypeError if name in OF_HERMITIAN else ValueError  # as in JAX
        with pytest.raises(error, match="square"):
            getattr(jnp.linalg, name)(jnp.zeros(shape))
        return
    if name == "matrix_rank" and 0 in shape[-2:]:
        assert not jnp.linalg.matrix_rank(jnp.zeros(shape)).any()
        return
    expected = getattr(np.linalg, name)(np.zeros(shape, np.float32))
    found = getattr(jnp.linalg, name)(jnp.zeros(shape))
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)
    for x, y in zip(found, expected, strict=True):
        assert x.shape == y.shape
        if 0 not in shape[:-2]:
            np.testing.assert_array_equal(np.abs(x), np.abs(y))  # identities, up to signs


@pytest.mark.parametrize("function", [jnp.linalg.inv, jnp.linalg.pinv])
def test_short_floats_are_refused(function):
    with pytest.raises(TypeError, match=r"expected an array of float32.* got bfloat16"):
        function(jnp.eye(3, dtype="bfloat16"))


@pytest.mark.parametrize("name", [*FUNCTIONS, *OF_SQUARE])
def test_integers_become_floats(name):
    x = np.array([[3, 1], [1, 2]])
    close_to = getattr(np.linalg, name)(x.astype(np.float32))
    found = getattr(jnp.linalg, name)(x)
    if not isinstance(close_to, tuple):
        found, close_to = (found,), (close_to,)
    for a, b in zip(found, close_to, strict=True):
        kinds = {"f": "float32", "c": "complex64", "i": "int32"}
        assert a.dtype == ("complex64" if name in ("eig", "eigvals") else kinds[a.dtype.kind])
        np.testing.assert_allclose(np.abs(a), np.abs(b), rtol=1e-4, atol=1e-5)


def test_products_and_diagonals_of_the_last_axes():
    x = drawn(2, 3, 4).astype(np.float32)
    for name in ("trace", "diagonal"):
        for offset in (0, 1, -1):
            found = getattr(jnp.linalg, name)(x, offset=offset)
            expected = getattr(np.linalg, name)(x, offset=offset)
            np.testing.assert_allclose(found, expected, rtol=1e-6)
    a, b = x[0, :, :3], x[1, :, :3]
    np.testing.assert_allclose(jnp.linalg.cross(a, b), np.linalg.cross(a, b), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(jnp.linalg.outer(a[0], b[0]), np.linalg.outer(a[0], b[0]))
    for call in (lambda: jnp.linalg.outer(a, b), lambda: jnp.linalg.cross(x, x)):
        with pytest.raises(ValueError, match=r"linalg\.\w+: expected"):
            call()


def test_ranks_by_a_limit():
    x = np.diag(np.float32([1, 0.1, 1e-3]))
    assert [int(jnp.linalg.matrix_rank(x, tol)) for tol in (None, 0.01, 0.5)] == [3, 2, 1]
    assert int(jnp.linalg.matrix_rank(100 * x, tol=1)) == 2
    assert int(jnp.linalg.matrix_rank(jnp.ones(3))) == 1


@pytest.mark.parametrize(
    "ours, theirs",
    [
        ("irax.numpy.linalg", "jax.numpy.linalg"),
        ("irax.lax.linalg", "jax.lax.linalg"),
        ("irax.scipy.linalg", "jax.scipy.linalg"),
    ],
)
def test_all_names_are_there(ours, theirs):
    pytest.importorskip("jax", reason="JAX, the oracle, is not installed")
    there, here = __import__(theirs, fromlist=["_"]), __import__(ours, fromlist=["_"])
    names = {n for n in dir(there) if not n.startswith("_") and not n.endswith("_p")}
    assert names <= set(dir(here))


@pytest.mark.parametrize("shape", [(2, 70_000), (70_000, 2), (0, 3, 2), (3, 0, 2), (2, 0)])
def test_pseudo_inverses_of_long_and_of_empty_matrices(shape):
    x, t = drawn(*shape), drawn(*shape)
    value, tangent = irax.jvp(jnp.linalg.pinv, (x,), (t,))
    assert value.shape == tangent.shape == (*shape[:-2], shape[-1], shape[-2])
    if shape[-1] and shape[-2] > 0 and len(shape) == 2:
        step = 1e-4
        ends = [np.linalg.pinv(x + sign * step * t) for sign in (1, -1)]
        np.testing.assert_allclose(tangent, (ends[0] - ends[1]) / (2 * step), rtol=1e-2, atol=1e-6)


def test_pinv_takes_one_limit():
    with pytest.raises(ValueError, match="give one"):
        jnp.linalg.pinv(jnp.eye(2), rtol=0.1, rcond=0.1)


@pytest.mark.parametrize("order", [np.inf, 2, 1])
def test_norms_of_nothing_are_0(order):
    assert jnp.linalg.norm(np.zeros((0, 0)), order) == 0
    assert jnp.linalg.norm(np.zeros(0), order) == 0


def test_condition_of_singular_matrices():
    x = np.zeros((3, 2, 2), "f4")
    x[1], x[2] = 1, np.nan
    for p in (None, 2, -2):
        found = jnp.linalg.cond(x[0], p)
        assert found == np.linalg.cond(x[0], p) == np.inf
    assert np.isnan(jnp.linalg.cond(x)).tolist() == [False, False, True]
    assert jnp.linalg.cond(x)[1] > 1e6
    assert jnp.linalg.cond(x[0], 1) == np.inf


def leibniz(x):
    """The determinant of a matrix of four rows as a polynomial, which has all derivatives."""
    total = 0
    for order in itertools.permutations(range(4)):
        exchanges = sum(order[i] > order[j] for j in range(4) for i in range(j))
        total = total + (-1) ** exchanges * math.prod(x[i, j] for i, j in enumerate(order))
    return total


SINGULAR = {
    "rank 3": lambda x: x.at[3].set(x[0] + x[1]),
    "rank 2": lambda x: jnp.outer(x[0], x[1]) + jnp.outer(x[2], x[3]),
    "rank 1": lambda x: jnp.outer(x[0], x[1]),
    "zero": lambda x: 0 * x,
    "equal singular values": lambda x: jnp.diag(jnp.array([1.0, 1, 1, 0])),
    "identity": lambda x: jnp.eye(4),
    "regular": lambda x: x,
}


@pytest.mark.usefixtures("doubles")
@pytest.mark.parametrize("name", SINGULAR)
def test_second_derivatives_of_determinants(name):
    x = SINGULAR[name](jnp.asarray(drawn(4, 4)))
    assert_changes_of_minors(irax.hessian(jnp.linalg.det)(x), x)


@pytest.mark.slow
@pytest.mark.usefixtures("doubles")
def test_second_derivatives_of_determinants_of_complex_matrices():
    x = drawn(4, 4) + 1j * drawn(4, 4).T
    x[3] = x[0]
    gradient = irax.grad(jnp.linalg.det, holomorphic=True)
    assert_changes_of_minors(irax.jit(irax.jacfwd(gradient, holomorphic=True))(x), x)


def assert_changes_of_minors(hessian, x):
    """Compare with halves of differences by 1: they are exact for a polynomial of degree 1 in each
    element.
    """
    found, x = np.asarray(hessian), np.asarray(x)
    steps = np.eye(16).reshape(4, 4, 4, 4)
    for row, column in itertools.product(range(4), range(4)):
        step = steps[row, column]
        close(found[row, column], (minors(x + step) - minors(x - step)) / 2)


@pytest.mark.slow
@pytest.mark.usefixtures("doubles")
def test_third_derivatives_of_determinants():
    def third(f):
        return irax.jit(irax.jacfwd(irax.hessian(f)))(jnp.eye(4))

    close(third(jnp.linalg.det), third(leibniz))


@pytest.mark.parametrize("shape", [(4, 3), (3, 4)])
@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1e20, 1e30])
def test_second_derivatives_of_singular_values_of_all_sizes(shape, scale):
    x = drawn(*shape).astype(np.float32)
    hessian = irax.hessian(lambda x: jnp.linalg.svd(x, compute_uv=False).sum())
    found = np.asarray(hessian(x * np.float32(scale)), np.float64)
    expected = np.asarray(hessian(x))
    np.testing.assert_allclose(found * scale, expected, 1e-4, 1e-5 * np.abs(expected).max())
