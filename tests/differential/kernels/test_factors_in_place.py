"""Factorizations in the memory of their operands, beside those of the evaluator."""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax


def near_identity(x):
    return jnp.eye(x.shape[-1], dtype=x.dtype) + x / (2 * x.shape[-1] ** 0.5)


def definite(x):
    x = near_identity(x)
    return x @ jnp.conj(jnp.swapaxes(x, -1, -2))


def cholesky(x):
    return jnp.linalg.cholesky(definite(x)), jnp.linalg.cholesky(definite(x) + 1, upper=True)


def lu(x):
    return lax.linalg.lu(near_identity(x))


def lu_of_used(x):
    a = near_identity(x)
    return lax.linalg.lu(a)[0], a


def solve(x):
    return jnp.linalg.solve(near_identity(x), jnp.sin(x)), jnp.linalg.inv(near_identity(x) + 1)


def triangular(x):
    return lax.linalg.triangular_solve(near_identity(x), jnp.sin(x), left_side=True, lower=True)


def qr(x):
    q, r = jnp.linalg.qr(near_identity(x))
    return q @ r, jnp.abs(r)


def eigh(x):
    values, vectors = jnp.linalg.eigh(definite(x))
    return values, (vectors * values[..., None, :]) @ jnp.conj(jnp.swapaxes(vectors, -1, -2))


def svd(x):
    u, s, v = jnp.linalg.svd(near_identity(x))
    return (u * s[..., None, :]) @ v, s


PROGRAMS = [cholesky, lu, lu_of_used, solve, triangular, qr, eigh, svd]


@pytest.mark.sampled(24)
@pytest.mark.parametrize("shape", [(5, 5), (64, 64), (97, 97), (3, 70, 70)])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_values(program, shape):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    given, constant = jnp.asarray(x), jnp.asarray(x)
    with irax.disable_jit():
        expected = irax.tree_util.tree_leaves(program(given))
    for found in irax.jit(lambda x: (program(x), program(constant)))(given):
        for a, b in zip(irax.tree_util.tree_leaves(found), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-2, atol=2e-3)
    np.testing.assert_array_equal(given, x)


@pytest.mark.slow
def test_complex_numbers():
    generator = np.random.default_rng(0)
    x = (generator.standard_normal((70, 70)) + 1j * generator.standard_normal((70, 70))) / 20
    x = x.astype(np.complex64) + np.eye(70, dtype=np.complex64)
    factors = np.asarray(irax.jit(lambda x: jnp.linalg.cholesky(definite(x)))(x))
    np.testing.assert_allclose(factors @ factors.conj().T, definite(x), rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(np.triu(factors, 1), 0)
    found = irax.jit(lambda x: jnp.linalg.inv(near_identity(x)))(x)
    np.testing.assert_allclose(found @ near_identity(x), np.eye(70), atol=1e-3)


def test_no_factor():
    found = np.asarray(
        irax.jit(lambda x: jnp.linalg.cholesky(x - 1))(np.zeros((70, 70), np.float32))
    )
    assert np.isnan(found[np.tril_indices(70)]).all()
    np.testing.assert_array_equal(np.triu(found, 1), 0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", [lu, solve], ids=lambda f: f.__name__)
def test_batches_of_many(program):
    """Each workgroup has several matrices."""
    x = np.random.default_rng(0).standard_normal((40, 20, 20)).astype(np.float32)
    with irax.disable_jit():
        expected = irax.tree_util.tree_leaves(program(jnp.asarray(x)))
    found = irax.tree_util.tree_leaves(irax.jit(program)(x))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-2, atol=2e-3)


@pytest.mark.slow
def test_memory():
    """Factors are where the matrix was, and there is no transposed copy."""
    x = np.ones((256, 256), np.float32)
    memory = irax.jit(lu).lower(x).compile().memory_analysis()
    assert memory.temp_size_in_bytes < x.nbytes / 8
    memory = irax.jit(lambda x: jnp.linalg.inv(near_identity(x))).lower(x).compile()
    assert memory.memory_analysis().temp_size_in_bytes < x.nbytes * 9 / 8
