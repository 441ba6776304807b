"""irax.numpy.linalg's factorizations and what is made of them, against NumPy."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax.test_util import check_grads

TOLERANCE = {"float32": 3e-4, "complex64": 3e-4}


def drawn(*shape: int, dtype: str = "float32") -> np.ndarray:
    rng = np.random.default_rng(sum(shape))
    x = rng.standard_normal(shape)
    if dtype.startswith("c"):
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def positive(*shape: int, dtype: str = "float32") -> np.ndarray:
    x = drawn(*shape, dtype=dtype)
    return (x @ np.conj(np.swapaxes(x, -1, -2)) + 2 * np.eye(shape[-1])).astype(dtype)


def close(found, expected, dtype="float32") -> None:
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 4, 4)])
def test_of_square_matrices(shape, dtype):
    x, b = drawn(*shape, dtype=dtype), drawn(*shape[:-1], 2, dtype=dtype)
    close(jnp.linalg.det(x), np.linalg.det(x), dtype)
    close(jnp.linalg.inv(x), np.linalg.inv(x), dtype)
    close(jnp.linalg.solve(x, b), np.linalg.solve(x, b), dtype)
    for found, expected in zip(jnp.linalg.slogdet(x), np.linalg.slogdet(x), strict=True):
        close(found, expected, dtype)
    close(jnp.linalg.matrix_power(x, -2), np.linalg.matrix_power(x, -2), dtype)
    hermitian = positive(*shape, dtype=dtype)
    close(jnp.linalg.cholesky(hermitian), np.linalg.cholesky(hermitian), dtype)
    close(jnp.linalg.eigvalsh(hermitian), np.linalg.eigvalsh(hermitian), dtype)


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5), (2, 4, 3)])
def test_of_any_matrices(shape):
    x = drawn(*shape)
    close(jnp.linalg.svdvals(x), np.linalg.svd(x, compute_uv=False))
    u, s, vh = jnp.linalg.svd(x, full_matrices=False)
    close((u * s[..., None, :]) @ vh, x)
    q, r = jnp.linalg.qr(x)
    close(q @ r, x)
    close(jnp.linalg.pinv(x), np.linalg.pinv(x))
    assert (jnp.linalg.matrix_rank(x) == np.linalg.matrix_rank(x)).all()
    close(jnp.linalg.cond(x), np.linalg.cond(x))
    for order in (2, -2, "nuc"):
        close(jnp.linalg.norm(x, order, (-2, -1)), np.linalg.norm(x, order, (-2, -1)))


def test_vectors_and_batches():
    a, b = drawn(3, 3), drawn(3)
    close(jnp.linalg.solve(a, b), np.linalg.solve(a, b))
    close(jnp.linalg.solve(a, drawn(2, 3, 1)), np.linalg.solve(a, drawn(2, 3, 1)))
    found = jnp.linalg.lstsq(drawn(5, 3), drawn(5))
    expected = np.linalg.lstsq(drawn(5, 3), drawn(5))
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.ravel(x), np.ravel(y), rtol=1e-3, atol=1e-3)
    t = drawn(2, 3, 6)
    close(jnp.linalg.tensorsolve(t, drawn(2, 3)), np.linalg.tensorsolve(t, drawn(2, 3)))
    close(jnp.linalg.tensorinv(t), np.linalg.tensorinv(t))


FUNCTIONS = {
    "solve": lambda x: jnp.linalg.solve(x, jnp.ones(3)),
    "inv": jnp.linalg.inv,
    "det": jnp.linalg.det,
    "slogdet": lambda x: jnp.linalg.slogdet(x)[1],
    "cholesky": jnp.linalg.cholesky,
    "eigvalsh": jnp.linalg.eigvalsh,
    "svdvals": jnp.linalg.svdvals,
    "qr": lambda x: jnp.linalg.qr(x)[1],
    "pinv": jnp.linalg.pinv,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_and_batches(name):
    f = FUNCTIONS[name]
    x = positive(3, 3) + np.diag(np.arange(3, dtype=np.float32))
    check_grads(f, (x,), order=2, atol=0.1, rtol=0.1)
    lanes = jnp.stack([x, 2 * x])
    close(irax.vmap(f)(lanes), np.stack([f(x), f(2 * x)]))


def test_compiled():
    x, b = positive(5, 5), drawn(5)

    def loss(x, b):
        values, vectors = jnp.linalg.eigh(x)
        return jnp.sum(jnp.linalg.solve(x, b) ** 2) + jnp.sum(values * vectors[0] ** 2)

    value, gradient = irax.jit(irax.value_and_grad(loss))(x, b)
    expected, expected_gradient = irax.value_and_grad(loss)(x, b)
    close(value, expected)
    close(gradient, expected_gradient)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size, dtype", [(2, "float32"), (6, "complex64"), (40, "float32")])
def test_not_positive_definite_is_a_triangle_of_nan(size, dtype):
    x = -jnp.eye(size, dtype=dtype)
    both = lambda x: (jnp.linalg.cholesky(x), jnp.linalg.cholesky(x, upper=True))
    whole = np.full((size, size), np.nan)
    for found in (both(x), irax.jit(both)(x)):
        for factor, expected in zip(found, (np.tril(whole), np.triu(whole)), strict=True):
            np.testing.assert_array_equal(np.isnan(factor), np.isnan(expected))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: jnp.linalg.inv(jnp.ones((2, 3))), r"square matrices .* got shape \(2, 3\)"),
        (lambda: jnp.linalg.solve(jnp.eye(3), jnp.ones(2)), "as many rows"),
        (lambda: jnp.linalg.eigh(jnp.eye(2), UPLO="X"), "UPLO must be"),
        (
            lambda: irax.lax.linalg.triangular_solve(jnp.eye(2), jnp.ones((3, 2))[:, :1]),
            "expected one dtype, the same batch dimensions",
        ),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_has_no_derivative_says_so():
    x = jnp.ones((3, 2))
    with pytest.raises(NotImplementedError, match="full_matrices=False"):
        irax.grad(lambda x: jnp.linalg.svd(x).U.sum())(x)
    with pytest.raises(NotImplementedError, match="reduced"):
        irax.grad(lambda x: jnp.linalg.qr(x, mode="complete").Q.sum())(x)
    with pytest.raises(NotImplementedError, match="schur has no derivative"):
        irax.grad(lambda x: irax.lax.linalg.schur(x)[0].sum())(jnp.eye(2))


def test_dtypes_that_lapack_does_not_have():
    with pytest.raises(TypeError, match=r"float16; convert with \.astype"):
        irax.lax.linalg.lu(jnp.ones((2, 2), jnp.float16))
    assert jnp.linalg.inv(np.array([[2, 0], [0, 4]])).dtype == jnp.float32


@pytest.mark.slow
def test_gradients_of_solve_exchange_rows_in_their_memory():
    """No matrix of ones and zeros exchanges them."""
    a = np.random.default_rng(0).normal(size=(128, 128)).astype(np.float32)
    b = np.random.default_rng(1).normal(size=128).astype(np.float32)

    def loss(a):
        return jnp.sum(jnp.linalg.solve(a, b) ** 2)

    memory = irax.jit(irax.grad(loss)).lower(a).compile().memory_analysis()
    assert memory.temp_size_in_bytes < a.nbytes // 2
    x = np.linalg.solve(a.astype(np.float64), b)
    expected = -np.outer(np.linalg.solve(a.T.astype(np.float64), 2 * x), x)
    np.testing.assert_allclose(irax.jit(irax.grad(loss))(a), expected, rtol=2e-2, atol=1e-2)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("n", "dtype"), [(40, "float32"), (300, "float32"), (300, "complex64")])
def test_eigenvectors_take_little_memory(n, dtype):
    """LAPACK's arrays are on the stack, or a matrix of what is between its routines."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=(n, n)) + 1j * generator.normal(size=(n, n))
    x = (x if dtype == "complex64" else x.real).astype(dtype)

    @irax.jit
    def again(x):
        w, v = jnp.linalg.eigh(x, symmetrize_input=False)
        return (v * w) @ v.conj().T

    lower = np.tril(x, -1)
    expected = lower + lower.conj().T + np.diag(np.diag(x).real)
    for _ in range(2):
        np.testing.assert_allclose(again(x), expected, atol=1e-3)
    memory = again.lower(x).compile().memory_analysis()
    assert memory.temp_size_in_bytes < 2.4 * x.nbytes


def test_eigenvalues_of_large_and_small_numbers():
    """Their squares overflow, or are zero."""
    x = np.random.default_rng(0).normal(size=(20, 20)).astype(np.float32)
    expected = np.linalg.eigvalsh(x + x.T)
    for scale in (1e-30, 1e30):
        w, v = irax.jit(jnp.linalg.eigh)(x * np.float32(scale))
        np.testing.assert_allclose(2 * np.asarray(w) / scale, expected, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(np.asarray(v).T @ v, np.eye(20), atol=1e-5)
