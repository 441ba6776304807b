"""The document "JAX for the Impatient", Chinese and English: each call, with irax for jax.

The editions print values of different machines; where they differ in the last digits, so may we.
"""

from __future__ import annotations

import numpy as np
import pytest

import irax
from irax import numpy as jnp
from irax import random, tree_util

DIGITS = {"rtol": 2e-5, "atol": 2e-6}
KEY = random.PRNGKey(0)


def test_numpy_api():
    m = jnp.ones((4, 4))
    n = jnp.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    assert repr(m) == (
        "Array([[1., 1., 1., 1.],\n       [1., 1., 1., 1.],\n       [1., 1., 1., 1.],\n"
        "       [1., 1., 1., 1.]], dtype=float32)"
    )
    product = jnp.dot(n, m).block_until_ready()
    np.testing.assert_array_equal(product, [[10.0] * 4, [26.0] * 4])


def test_numpy_arrays_go_in_and_out():
    x = np.random.default_rng(0).normal(size=(4, 4))
    product = jnp.dot(x, jnp.ones((4, 4)))
    assert product.dtype == np.float32
    np.testing.assert_allclose(product, np.tile(x.sum(1)[:, None], 4), rtol=1e-4, atol=1e-5)
    on_device = irax.device_put(x)
    assert isinstance(on_device, irax.Array)
    np.testing.assert_allclose(np.array(on_device), x, rtol=1e-6)


def test_immutability():
    x = jnp.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    updated = x.at[0, 0].set(3.0)
    assert str(x) == "[[1. 2. 3. 4.]\n [5. 6. 7. 8.]]"
    assert str(updated) == "[[3. 2. 3. 4.]\n [5. 6. 7. 8.]]"
    with pytest.raises(TypeError, match=r"\.at\["):
        x[0, 0] = 3.0
    for name, expected in (("add", 4.0), ("mul", 3.0), ("min", 1.0), ("max", 3.0)):
        assert float(getattr(x.at[0, 0], name)(3.0)[0, 0]) == expected


def test_keys():
    assert repr(KEY) == "Array([0, 0], dtype=uint32)"
    for _ in range(3):
        np.testing.assert_allclose(random.normal(KEY, shape=(1,)), [-0.20584236], **DIGITS)
    key, subkey = random.split(KEY)
    assert str(key) == "[4146024105  967050713]"
    assert str(subkey) == "[2718843009 1272950319]"
    np.testing.assert_allclose(random.normal(key, shape=(1,)), [0.14389051], **DIGITS)
    np.testing.assert_allclose(random.normal(subkey, shape=(1,)), [-1.2515389], **DIGITS)
    key, *subkeys = random.split(key, 4)
    assert str(key) == "[3306097435 3899823266]"
    np.testing.assert_array_equal(
        subkeys, [[147607341, 367236428], [2280136339, 1907318301], [781391491, 1939998335]]
    )


def test_gradient():
    def f(x):
        return jnp.dot(x.T, x) / 2.0

    assert float(f(jnp.ones((4,)))) == 2.0
    v = random.normal(KEY, (4,))
    np.testing.assert_allclose(v, [1.8160863, -0.75488514, 0.33988908, -0.53483534], **DIGITS)
    np.testing.assert_allclose(irax.grad(f)(v), v, rtol=1e-6)


def test_jvp_and_vjp():
    def f(x):
        return jnp.multiply(x, x) / 2.0

    x = random.normal(KEY, (5,))
    expected_x = [0.18784384, -1.2833426, -0.2710917, 1.2490594, 0.24447003]
    expected_f = [0.01764265, 0.8234841, 0.03674535, 0.7800747, 0.0298828]
    value, tangent = irax.jvp(f, (x,), (jnp.ones(5),))
    np.testing.assert_allclose(x, expected_x, **DIGITS)
    np.testing.assert_allclose(value, expected_f, **DIGITS)
    np.testing.assert_allclose(tangent, expected_x, **DIGITS)
    value, pullback = irax.vjp(f, x)
    np.testing.assert_allclose(value, expected_f, **DIGITS)
    np.testing.assert_allclose(pullback(jnp.ones((5,)))[0], expected_x, **DIGITS)


def test_jit():
    def selu(x, alpha=1.67, lmbda=1.05):
        return lmbda * jnp.where(x > 0, x, alpha * jnp.exp(x) - alpha)

    v = random.normal(KEY, (1000000,))
    compiled = irax.jit(selu)(v).block_until_ready()
    x = np.asarray(v, np.float64)
    expected = 1.05 * np.where(x > 0, x, 1.67 * np.exp(x) - 1.67)
    np.testing.assert_allclose(compiled, expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(selu(v).block_until_ready(), expected, rtol=1e-4, atol=1e-6)


def test_vectorization():
    mat, batched, single = (random.normal(KEY, s) for s in ((15, 10), (5, 10), (10,)))

    def apply_matrix(v):
        return jnp.dot(mat, v)

    assert apply_matrix(single).shape == (15,)
    mapped = irax.vmap(apply_matrix)(batched)
    assert mapped.shape == (5, 15)
    np.testing.assert_allclose(
        mapped, np.asarray(batched) @ np.asarray(mat).T, rtol=1e-4, atol=1e-5
    )


@pytest.fixture(scope="module")
def samples():
    k1, k2 = random.split(KEY)
    w, b = random.normal(k1, (10, 5)), random.normal(k2, (5,))
    key_sample, key_noise = random.split(k1)
    x = random.normal(key_sample, (20, 10))
    y = jnp.dot(x, w) + b + 0.1 * random.normal(key_noise, (20, 5))
    assert (x.shape, y.shape) == ((20, 10), (20, 5))
    return w, b, x, y


LOSSES = {0: 10.971408, 5: 1.0798326, 20: 0.094415195, 50: 0.0137539385, 100: 0.011576906}


def test_linear_regression(samples):
    w, b, x_samples, y_samples = samples

    def mse(w, b, x_batched, y_batched):
        def squared_error(x, y):
            error = y - (jnp.dot(x, w) + b)
            return jnp.inner(error, error) / 2.0

        return jnp.mean(irax.vmap(squared_error)(x_batched, y_batched), axis=0)

    @irax.jit
    def update_params(w, b, x, y, lr):
        return (
            w - lr * irax.grad(mse, 0)(w, b, x, y),
            b - lr * irax.grad(mse, 1)(w, b, x, y),
        )

    np.testing.assert_allclose(mse(w, b, x_samples, y_samples), 0.023639796, rtol=1e-4)
    w_hat, b_hat = jnp.zeros_like(w), jnp.zeros_like(b)
    for i in range(101):
        w_hat, b_hat = update_params(w_hat, b_hat, x_samples, y_samples, 0.3)
        if i in LOSSES:
            np.testing.assert_allclose(
                mse(w_hat, b_hat, x_samples, y_samples), LOSSES[i], rtol=1e-4
            )


def test_pytrees():
    t = [1, {"k1": 2, "k2": (3, 4)}, 5]
    squares = tree_util.tree_map(lambda x: x * x, t)
    assert squares == [1, {"k1": 4, "k2": (9, 16)}, 25]
    assert tree_util.tree_map(lambda x, y: x + y, t, squares) == [
        2,
        {"k1": 6, "k2": (12, 20)},
        30,
    ]


def test_linear_regression_with_pytrees(samples):
    w, b, x_samples, y_samples = samples

    def mse(params, x_batched, y_batched):
        def squared_error(x, y):
            error = y - (jnp.dot(x, params["W"]) + params["b"])
            return jnp.inner(error, error) / 2.0

        return jnp.mean(irax.vmap(squared_error)(x_batched, y_batched), axis=0)

    params = {"W": jnp.zeros_like(w), "b": jnp.zeros_like(b)}
    grads = irax.grad(mse)(params, x_samples, y_samples)
    expected_b = [1.864018, 2.69724, -3.1244898, -1.4062692, 0.66766924]
    np.testing.assert_allclose(grads["b"], expected_b, **DIGITS)
    expected_w0 = [-1.1769425, 0.39893118, -0.89776236, 1.2179708, -0.22526088]
    np.testing.assert_allclose(grads["W"][0], expected_w0, **DIGITS)

    @irax.jit
    def update(params, learning_rate, x, y):
        return irax.tree_map(
            lambda p, g: p - learning_rate * g, params, irax.grad(mse)(params, x, y)
        )

    np.testing.assert_allclose(mse({"W": w, "b": b}, x_samples, y_samples), 0.023639796, rtol=1e-4)
    for i in range(101):
        params = update(params, 0.3, x_samples, y_samples)
        if i in LOSSES:
            np.testing.assert_allclose(mse(params, x_samples, y_samples), LOSSES[i], rtol=1e-4)

    loss_grad = irax.value_and_grad(mse)
    for _ in range(6):
        value, grads = loss_grad(params, x_samples, y_samples)
        params = irax.tree_map(lambda p, g: p - 0.3 * g, params, grads)
    np.testing.assert_allclose(value, 0.011573283, rtol=1e-4)
