"""Two introductions, "can JAX end the era of NumPy?" and a quickstart, with irax for jax."""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import grad, jacfwd, jacobian, jacrev, jit, random, vmap


def test_arange():
    x = jnp.arange(10)
    assert str(x) == "[0 1 2 3 4 5 6 7 8 9]"
    long_vector = jnp.arange(int(1e7))
    product = jnp.dot(long_vector, long_vector).block_until_ready()
    assert int(product) == int(
        np.dot(np.arange(10**7, dtype=np.int32), np.arange(10**7, dtype=np.int32))
    )


def sum_squared_error(x, y):
    return jnp.sum((x - y) ** 2)


def test_gradients():
    x = jnp.asarray([1.0, 2.0, 3.0, 4.0])
    assert float(jnp.sum(x**2)) == 30.0
    assert str(irax.grad(lambda x: jnp.sum(x**2))(x)) == "[2. 4. 6. 8.]"
    y = jnp.asarray([1.1, 2.1, 3.1, 4.1])
    printed = np.array([-0.20000005, -0.19999981, -0.19999981, -0.19999981])
    np.testing.assert_allclose(irax.grad(sum_squared_error)(x, y), printed, atol=1e-8)
    by_x, by_y = irax.grad(sum_squared_error, argnums=(0, 1))(x, y)
    np.testing.assert_allclose(by_x, printed, atol=1e-8)
    np.testing.assert_allclose(by_y, -printed, atol=1e-8)
    value, by_x = irax.value_and_grad(sum_squared_error)(x, y)
    np.testing.assert_allclose(value, 0.03999995, atol=1e-8)
    np.testing.assert_allclose(by_x, printed, atol=1e-8)


def test_aux_data():
    x, y = jnp.ones(4), jnp.zeros(4)

    def squared_error_with_aux(x, y):
        return sum_squared_error(x, y), x - y

    with pytest.raises(TypeError, match="has_aux=True"):
        irax.grad(squared_error_with_aux)(x, y)
    gradient, aux = irax.grad(squared_error_with_aux, has_aux=True)(x, y)
    np.testing.assert_array_equal(gradient, [2.0] * 4)
    np.testing.assert_array_equal(aux, [1.0] * 4)


def test_no_modification_in_place():
    def in_place_modify(x):
        x[0] = 123

    x = np.array([1, 2, 3])
    in_place_modify(x)
    np.testing.assert_array_equal(x, [123, 2, 3])
    y = jnp.array([1, 2, 3])
    with pytest.raises(TypeError, match=r"\.at\["):
        in_place_modify(y)
    assert repr(irax.ops.index_update(y, 0, 123)) == "Array([123,   2,   3], dtype=int32)"
    assert repr(y) == "Array([1, 2, 3], dtype=int32)"


# ---- the quickstart ------------------------------------------------------------------------------


def sum_logistic(x):
    return jnp.sum(1.0 / (1.0 + jnp.exp(-x)))


SMALL = jnp.arange(3.0)


def test_selu():
    def selu(x, alpha=1.67, lmbda=1.05):
        return lmbda * jnp.where(x > 0, x, alpha * jnp.exp(x) - alpha)

    x = jnp.arange(5.0)
    printed = [0.0, 1.05, 2.1, 3.1499999, 4.2]
    np.testing.assert_allclose(selu(x), printed, rtol=1e-7)
    np.testing.assert_allclose(jit(selu)(x), printed, rtol=2e-7)


def test_grad_against_differences():
    np.testing.assert_allclose(grad(sum_logistic)(SMALL), [0.25, 0.19661197, 0.10499357], rtol=1e-6)

    def first_finite_differences(f, x, eps=1e-3):
        return jnp.array([(f(x + eps * v) - f(x - eps * v)) / (2 * eps) for v in jnp.eye(len(x))])

    # Differences of float32 sums: two units in the last place are 1.2e-4 of the quotient.
    np.testing.assert_allclose(
        first_finite_differences(sum_logistic, SMALL),
        [0.24998187, 0.1965761, 0.10502338],
        atol=2.5e-4,
    )


def test_third_derivative():
    value = grad(jit(grad(jit(grad(sum_logistic)))))(1.0)
    np.testing.assert_allclose(value, -0.0353256, rtol=1e-5)


def test_jacobian_and_hessian():
    np.testing.assert_allclose(
        jacobian(jnp.exp)(SMALL), np.diag([1.0, 2.7182817, 7.389056]), rtol=1e-6
    )
    np.testing.assert_allclose(
        jit(jacfwd(jacrev(sum_logistic)))(SMALL),
        np.diag([0.0, -0.09085776, -0.07996249]),
        atol=1e-7,
    )


def test_vmap():
    key1, key2 = random.split(random.key(1701))
    mat, batched_x = random.normal(key1, (150, 100)), random.normal(key2, (10, 100))

    def apply_matrix(x):
        return jnp.dot(mat, x)

    naive = jnp.stack([apply_matrix(v) for v in batched_x])
    by_hand = jit(lambda b: jnp.dot(b, mat.T))(batched_x)
    mapped = jit(lambda b: vmap(apply_matrix)(b))(batched_x)
    np.testing.assert_allclose(naive, by_hand, atol=1e-4, rtol=1e-4)
    np.testing.assert_allclose(naive, mapped, atol=1e-4, rtol=1e-4)
