"""Eigenvectors and singular vectors have the signs that LAPACK's own routines give, everywhere."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp

lapack = pytest.importorskip("scipy.linalg.lapack")
N = 9


def _matrix(dtype):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(N, N)) + (1j * rng.normal(size=(N, N)) if dtype[0] == "c" else 0)
    return x.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_eigenvectors_at_once_are_those_of_lapack(dtype):
    a = _matrix(dtype)
    a = a + a.conj().T
    solve = lapack.ssyevd if dtype == "float32" else lapack.cheevd
    values, vectors, _ = solve(a, lower=1)
    found = jnp.linalg.eigh(a)
    np.testing.assert_allclose(found.eigenvalues, values, atol=1e-4)
    np.testing.assert_allclose(found.eigenvectors, vectors, atol=1e-4)
    batch = jnp.linalg.eigh(np.stack([np.eye(N, dtype=dtype), a]))
    np.testing.assert_allclose(batch.eigenvectors[1], vectors, atol=1e-4)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("shape", [(N, N), (N, 4), (4, N)])
def test_singular_vectors_at_once_are_those_of_lapack(shape, full):
    a = _matrix("float32")[: shape[0], : shape[1]]
    u, values, vh, _ = lapack.sgesdd(a, full_matrices=int(full))
    found = jnp.linalg.svd(a, full_matrices=full)
    for mine, its in zip(found, (u, values, vh), strict=True):
        np.testing.assert_allclose(mine, its, atol=1e-4)


def test_vectors_of_compiled_functions_have_the_same_signs():
    a = _matrix("float32")
    a = a + a.T
    found = irax.jit(jnp.linalg.eigh)(a)
    np.testing.assert_allclose(found.eigenvectors, jnp.linalg.eigh(a).eigenvectors, atol=1e-4)


def test_matrices_that_are_not_finite_have_vectors_of_nan():
    a = np.stack([np.full((3, 3), np.inf), np.eye(3)]).astype("float32")
    for found in (jnp.linalg.eigh(a).eigenvectors, jnp.linalg.svd(a)[0]):
        assert np.isnan(found[0]).all()
        np.testing.assert_allclose(np.abs(found[1]), np.eye(3), atol=1e-6)
