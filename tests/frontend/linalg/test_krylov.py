"""irax.scipy.sparse.linalg against direct solvers: solutions, derivatives, lanes."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax.experimental.sparse.linalg import lobpcg_standard
from irax.scipy.sparse.linalg import bicgstab, cg, gmres
from irax.test_util import check_grads

RANDOM = np.random.default_rng(0)
SIZE = 6
GENERAL = RANDOM.normal(size=(SIZE, SIZE)).astype(np.float32)
DEFINITE = GENERAL @ GENERAL.T + SIZE * np.eye(SIZE, dtype=np.float32)
SKEW = GENERAL - GENERAL.T
GENERAL = GENERAL + 5 * np.eye(SIZE, dtype=np.float32)
B = RANDOM.normal(size=SIZE).astype(np.float32)
METHODS = [cg, bicgstab, gmres]


def matrix(method):
    return DEFINITE if method is cg else GENERAL


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("transform", [lambda f: f, irax.jit], ids=["evaluator", "iree"])
def test_solutions(method, transform):
    a = matrix(method)
    x, info = transform(lambda a, b: method(a, b, tol=1e-6))(a, B)
    assert info is None if method is not gmres else int(info) == 0
    np.testing.assert_allclose(x, np.linalg.solve(a, B), atol=1e-5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", METHODS)
def test_derivatives_are_those_of_the_solution(method):
    a = matrix(method)

    def f(a, b):
        a = (a + a.T) / 2 if method is cg else a
        return method(lambda x: a @ x, b, tol=1e-6)[0]

    check_grads(f, (a, B), order=2)


@pytest.mark.parametrize("method", METHODS)
def test_lanes_end_when_they_are_done(method):
    a = matrix(method)
    bs = np.stack([B, 0 * B, a[:, 0]])
    xs = irax.vmap(lambda b: method(a, b, tol=1e-6)[0])(bs)
    np.testing.assert_allclose(xs, np.linalg.solve(a, bs.T).T, atol=1e-5)
    matrices = np.stack([a, 2 * a])
    xs = irax.vmap(lambda a: method(a, B, tol=1e-6)[0])(matrices)
    np.testing.assert_allclose(xs, np.linalg.solve(matrices, B), atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_complex_numbers(method):
    a = (matrix(method) + 0.2j * SKEW).astype(np.complex64)
    b = (B + 1j * B[::-1]).astype(np.complex64)
    x, _ = method(a, b, tol=1e-6)
    np.testing.assert_allclose(x, np.linalg.solve(a, b), atol=1e-5)

    def f(b):
        return jnp.sum(jnp.abs(method(a, b, tol=1e-6)[0]) ** 2)

    def direct(b):
        return jnp.sum(jnp.abs(jnp.linalg.solve(a, b)) ** 2)

    np.testing.assert_allclose(irax.grad(f)(b), irax.grad(direct)(b), atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_pytrees_starts_and_preconditioners(method):
    a = matrix(method)
    inverse = np.linalg.inv(a).astype(np.float32)
    apply = lambda m: lambda x: {"v": m @ x["v"], "n": 2 * x["n"]}
    b = {"v": B, "n": 3.0}
    x0 = {"v": np.ones(SIZE, np.float32), "n": 0.0}
    x, _ = method(apply(a), b, x0, M=apply(inverse), maxiter=5, tol=1e-6)
    np.testing.assert_allclose(x["v"], np.linalg.solve(a, B), atol=1e-4)
    np.testing.assert_allclose(x["n"], 1.5, atol=1e-4)
    # One step with the inverse is enough, from anywhere.
    x, _ = method(a, B, x0["v"], M=inverse, maxiter=1, tol=0.0)
    np.testing.assert_allclose(x, np.linalg.solve(a, B), atol=1e-4)


def test_maxiter_ends_it():
    x, _ = cg(DEFINITE, B, maxiter=0)
    assert not np.any(x)
    x, _ = gmres(GENERAL, B, restart=2, maxiter=1)
    residual = np.linalg.norm(GENERAL @ np.asarray(x) - B)
    assert 1e-3 < residual < np.linalg.norm(B)


def test_gmres_starts_anew():
    x, _ = gmres(GENERAL, B, restart=3, tol=1e-6, solve_method="incremental")
    np.testing.assert_allclose(x, np.linalg.solve(GENERAL, B), atol=1e-5)


def test_gmres_of_what_needs_one_product():
    x, _ = gmres(2 * np.eye(SIZE, dtype=np.float32), B)
    np.testing.assert_allclose(x, B / 2, rtol=1e-6)


def test_errors():
    with pytest.raises(ValueError, match="square matrix"):
        cg(np.ones((2, 3), np.float32), B)
    with pytest.raises(ValueError, match="x0"):
        cg(DEFINITE, B, (B,))
    with pytest.raises(ValueError, match="shape"):
        cg(DEFINITE, B, B[1:])
    with pytest.raises(ValueError, match="solve_method"):
        gmres(GENERAL, B, solve_method="other")
    with pytest.raises(ValueError, match="restart"):
        gmres(GENERAL, B, restart=0)


class Doubling:
    def __matmul__(self, x):
        return 2 * x


@pytest.mark.parametrize("solver", [cg, bicgstab, gmres])
def test_anything_that_multiplies(solver):
    b = jnp.arange(9.0).reshape(3, 3)
    np.testing.assert_allclose(solver(Doubling(), b)[0], b / 2, rtol=1e-5)
    assert solver(Doubling(), 1.0)[0].weak_type
    with pytest.raises(TypeError, match="A"):
        solver(None, b)
    with pytest.raises(TypeError, match="b must be an array"):
        solver(Doubling(), None)


def test_gmres_tells_of_nan():
    for start, expected in ((1.0, 0), (np.nan, -1)):
        info = gmres(Doubling(), jnp.ones(2), jnp.array([1.0, start]), maxiter=1)[1]
        assert (info.dtype, int(info)) == (np.int32, expected)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k"), [(50, 3), (40, 7)])
def test_largest_eigenvalues(n, k):
    rng = np.random.default_rng(n)
    a = rng.normal(size=(n, n)).astype("f")
    a += a.T
    start = rng.normal(size=(n, k)).astype("f")
    theta, u, steps = lobpcg_standard(jnp.asarray(a), jnp.asarray(start), m=200)
    expected = np.linalg.eigvalsh(a)[::-1][:k]
    np.testing.assert_allclose(theta, expected, rtol=1e-5)
    np.testing.assert_allclose(a @ u, u * theta, atol=5e-3)
    np.testing.assert_allclose(u.T @ u, np.eye(k), atol=1e-5)
    assert steps < 200
    few = irax.jit(lambda a, x: lobpcg_standard(lambda v: a @ v, x, 2))(a, start)
    assert few[2] == 2


def test_largest_eigenvalues_of_negative_matrices_and_bad_arguments():
    a = -jnp.diag(jnp.arange(1.0, 30.0))
    start = jnp.concatenate([jnp.eye(29, 2), jnp.zeros((0, 2))]) + 0.1 * jnp.ones((29, 2))
    theta, _, _ = lobpcg_standard(a, start.at[5, 1].set(3.0))
    np.testing.assert_allclose(theta, [-1, -2], rtol=1e-5)
    with pytest.raises(ValueError, match="0 < 5 k < n"):
        lobpcg_standard(a, jnp.ones((29, 6)))
    with pytest.raises(ValueError, match="expected a product of shape"):
        lobpcg_standard(lambda v: v[:3], start)
