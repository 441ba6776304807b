"""irax.lax.linalg beyond what irax.numpy.linalg shows: eig, reflections, tridiagonal matrices."""

import functools

import numpy as np
import pytest
import scipy.linalg

import irax
import irax.numpy as jnp
from irax.lax import linalg
from irax.test_util import check_grads


@pytest.fixture(autouse=True)
def doubles():
    with irax.enable_x64():
        yield


def drawn(*shape: int, dtype: str = "f8") -> np.ndarray:
    rng = np.random.default_rng(sum(shape))
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype[0] == "c" else x).astype(dtype)


def close(found, expected) -> None:
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def adjoint(x):
    return np.conj(np.swapaxes(np.asarray(x), -1, -2))


REAL, COMPLEX, BATCH = drawn(4, 4), drawn(4, 4, dtype="c16"), drawn(2, 3, 3)


@pytest.mark.parametrize("x", [REAL, COMPLEX, BATCH])
def test_eig(x):
    values, left, right = linalg.eig(x)
    close(x @ right, right * values[..., None, :])
    close(adjoint(left) @ x, values[..., :, None] * adjoint(left))
    for v in (left, right):
        close(jnp.linalg.vector_norm(v, axis=-2), np.ones(values.shape))
        largest = np.take_along_axis(v, np.abs(v).argmax(-2)[..., None, :], -2)
        close(largest.imag, np.zeros(largest.shape))
    (alone,) = linalg.eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=False)
    close(np.sort_complex(alone), np.sort_complex(values))
    close(jnp.linalg.eigvals(x), alone)


def test_derivatives_of_eig():
    def parts(x):
        values, left, right = linalg.eig(x)
        return [x.real for x in (values, left, right)], [x.imag for x in (values, left, right)]

    check_grads(parts, (COMPLEX,), order=2, atol=1e-4, rtol=1e-4)
    check_grads(jnp.linalg.eigvals, (REAL,), order=2, atol=1e-4, rtol=1e-4)
    constant = irax.jacfwd(lambda x: linalg.eig(x, enable_eigvec_derivs=False)[2])(REAL)
    close(constant, np.zeros((4, 4, 4, 4)))


def test_eig_compiled():
    values, right = irax.jit(jnp.linalg.eig)(REAL)
    close(REAL @ right, right * values)


@pytest.mark.parametrize("x", [REAL, COMPLEX])
def test_schur_and_hessenberg(x):
    t, z = linalg.schur(x)
    close(z @ t @ adjoint(z), x)
    packed, taus = linalg.hessenberg(x)
    q = np.eye(4, dtype=x.dtype)
    q[1:, 1:] = linalg.householder_product(packed[1:, :-1], taus)
    close(q @ np.triu(packed, -1) @ adjoint(q), x)


def test_schur_selects_nothing():
    close(linalg.schur(REAL, select_callable=lambda value: value > 0)[0], linalg.schur(REAL)[0])


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("x", [REAL, COMPLEX])
def test_tridiagonal(x, lower):
    _, diagonal, beside, _ = linalg.tridiagonal(x, lower=lower)
    whole = np.tril(x, -1) if lower else np.triu(x, 1)
    whole = whole + adjoint(whole) + np.diag(np.diag(x).real)
    found = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    close(np.linalg.eigvalsh(found), np.linalg.eigvalsh(whole))


@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_reflections(dtype):
    x, c = drawn(5, 3, dtype=dtype), drawn(5, 2, dtype=dtype)
    raw, taus = np.linalg.qr(x, mode="raw")
    full, _ = np.linalg.qr(x, mode="complete")
    close(linalg.householder_product(raw.T, taus), full[:, :3])
    close(linalg.ormqr(raw.T, taus, c), full @ c)
    close(linalg.ormqr(raw.T, taus, c, transpose=True), adjoint(full) @ c)
    close(linalg.ormqr(raw.T, taus, c.T, left=False), c.T @ full)
    found = jnp.linalg.qr(x, mode="raw")
    close(found.Q, raw)
    close(found.R, taus)


@pytest.mark.parametrize("shape", [(4, 6), (6, 4)])
def test_pivoted_qr(shape):
    x = drawn(*shape)
    q, r, order = linalg.qr(x, pivoting=True, full_matrices=False)
    expected = scipy.linalg.qr(x, mode="economic", pivoting=True)
    for found, part in zip((q, r, order), expected, strict=True):
        close(found, part)
    batched = irax.vmap(lambda x: linalg.qr(x, pivoting=True, full_matrices=False))
    close(batched(np.stack([x, x[::-1]]))[2][0], order)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
def test_full_factors(shape):
    x = drawn(2, *shape)
    u, s, vh = jnp.linalg.svd(x)
    close((u[..., :3] * s[..., None, :]) @ vh[..., :3, :], x)
    q, r = jnp.linalg.qr(x, mode="complete")
    close(q @ r, x)
    for part in (u, vh, q):
        close(part @ adjoint(part), np.broadcast_to(np.eye(part.shape[-1]), part.shape))


def test_subsets():
    hermitian = REAL + REAL.T
    vectors, values = linalg.eigh(hermitian, subset_by_index=(1, 3))
    close(values, np.linalg.eigvalsh(hermitian)[1:3])
    close(hermitian @ vectors, vectors * values)
    s = linalg.svd(REAL, compute_uv=False, subset_by_index=(0, 2))
    close(s, np.linalg.svd(REAL, compute_uv=False)[:2])
    u, s, vh = linalg.svd(REAL, full_matrices=False, subset_by_index=(0, 2))
    close(REAL @ adjoint(vh), u * s)


@pytest.mark.slow
def test_tridiagonal_solve():
    low, mid, high = drawn(3, 2, 6)
    mid += 3
    mid[0, 2], low[0, 3] = 0, 5  # only pivots help
    right = drawn(2, 6, 3)
    x = linalg.tridiagonal_solve(low, mid, high, right)
    for i in range(2):
        whole = np.diag(mid[i]) + np.diag(low[i, 1:], -1) + np.diag(high[i, :-1], 1)
        close(whole @ x[i], right[i])
    check_grads(linalg.tridiagonal_solve, (low, mid, high, right), order=2, atol=1e-3, rtol=1e-3)
    zero = np.zeros(3)
    singular = (zero, zero, zero, np.ones((3, 1)))
    assert not jnp.isfinite(linalg.tridiagonal_solve(*singular)).any()
    shifted = linalg.tridiagonal_solve(
        zero, np.array([1.0, 0, 1]), *singular[2:], perturb_singular=True
    )
    assert jnp.isfinite(shifted).all()
    of_zeros = linalg.tridiagonal_solve(*singular, perturb_singular=True)
    close(of_zeros, np.full((3, 1), 1 / np.finfo("float64").tiny))
    rows = [drawn(3, dtype="c16") for _ in range(3)]
    perturbed = functools.partial(linalg.tridiagonal_solve, perturb_singular=True)
    check_grads(perturbed, (*rows, drawn(3, 1, dtype="c16")), order=2, atol=1e-3, rtol=1e-3)


def test_updates_and_products():
    r, w = np.triu(REAL) + 5 * np.eye(4), drawn(4)
    close(linalg.cholesky_update(r, w), np.linalg.cholesky(r.T @ r + np.outer(w, w)).T)
    a, c = drawn(4, 2), REAL + REAL.T
    found = linalg.symmetric_product(a, c, alpha=2.0, beta=3.0, symmetrize_output=True)
    close(found, 2 * a @ a.T + 3 * c)
    pivots = jnp.array([[1, 1, 2], [2, 2, 2]], dtype=np.int32)
    expected = [[1, 0, 2, 3], [2, 0, 1, 3]]
    assert linalg.lu_pivots_to_permutation(pivots, 4).tolist() == expected


@pytest.mark.parametrize("x", [REAL, drawn(5, 3, dtype="c16"), np.eye(3)])
def test_polar_factors(x):
    u, h, _, converged = linalg.qdwh(x)
    expected = scipy.linalg.polar(x)
    close(u, expected[0])
    close(h, expected[1])
    assert converged
    check_grads(lambda x: linalg.qdwh(x)[:2], (x,), order=1, atol=1e-4, rtol=1e-4)


def test_polar_factors_of_a_part():
    x = drawn(6, 4)
    expected = scipy.linalg.polar(x[:5, :3])

    @irax.jit
    def factors(x, rows, columns):
        return linalg.qdwh(x, dynamic_shape=(rows, columns))

    u, h, _, converged = factors(x, 5, 3)
    close(u, np.pad(expected[0], ((0, 1), (0, 1))))
    close(h, np.pad(expected[1], ((0, 1), (0, 1))))
    assert converged
    assert not linalg.qdwh(x * np.float64([1, 1, 1, 1e-6]), max_iterations=1)[3]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: linalg.cholesky(jnp.ones((2, 3))), ValueError, "cholesky: expected square"),
        (lambda: linalg.eigh(jnp.ones((2, 3))), ValueError, "eigh: expected square"),
        (lambda: linalg.eig(jnp.ones((2, 3))), ValueError, "lax.linalg.eig: expected square"),
        (lambda: linalg.qdwh(jnp.ones((2, 3))), ValueError, "as many rows as columns"),
        (lambda: linalg.ormqr(REAL, REAL[0], REAL[:3]), ValueError, "vectors of 4 elements"),
        (lambda: linalg.householder_product(REAL, BATCH), ValueError, "expected taus"),
        (lambda: linalg.eigh(REAL, subset_by_index=(2, 9)), ValueError, "a range within 0 to 4"),
        (lambda: linalg.svd(REAL, subset_by_index=(0, 1)), ValueError, "full_matrices=False"),
        (lambda: linalg.schur(REAL, sort_eig_vals=True), NotImplementedError, "sorted"),
        (lambda: linalg.tridiagonal_solve(*REAL[:3], REAL[:2]), TypeError, "expected dl, d"),
        (lambda: linalg.cholesky_update(REAL, REAL), ValueError, "expected w_vector"),
        (lambda: linalg.symmetric_product(REAL, BATCH), ValueError, "expected c_matrix"),
        (lambda: linalg.lu_pivots_to_permutation(jnp.ones(3), 3), TypeError, "int32 pivots"),
        (lambda: linalg.lu_pivots_to_permutation(np.int32([1, 1]), 1), ValueError, "at most 1"),
    ],
)  # fmt: skip
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()
