"""Somebody's notes of a JAX tutorial: every call of them, with irax in jax's place."""

from __future__ import annotations

import functools
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import grad, jit, lax, random


def test_arrays():
    arr = jnp.array([1, 2, 3], dtype=jnp.float32)
    arr = jnp.asarray(arr, dtype=jnp.float32)
    assert (arr.shape, arr.size, arr.dtype) == ((3,), 3, np.float32)
    assert arr.device() == irax.devices()[0]
    with pytest.raises(TypeError, match=r"x\.at\[0\]\.set|\.at\["):
        arr[0] = 0
    np.testing.assert_array_equal(arr.at[0].set(0), [0, 2, 3])


def mse_loss(x, y):
    return jnp.mean((x - y) ** 2)


def test_grad():
    x = jnp.asarray([1, 2, 3], dtype=jnp.float32)
    y = jnp.asarray([0, 0, 0], dtype=jnp.float32)
    expected = np.array([2, 4, 6]) / 3
    np.testing.assert_allclose(irax.grad(mse_loss)(x, y), expected, rtol=1e-6)
    x_grad, y_grad = irax.grad(mse_loss, argnums=(0, 1))(x, y)
    np.testing.assert_allclose(x_grad, expected, rtol=1e-6)
    np.testing.assert_allclose(y_grad, -expected, rtol=1e-6)
    loss, x_grad = irax.value_and_grad(mse_loss)(x, y)
    np.testing.assert_allclose(loss, 14 / 3, rtol=1e-6)
    np.testing.assert_allclose(x_grad, expected, rtol=1e-6)


def test_aux():
    x, y = jnp.array([1.0, 2.0, 3.0]), jnp.zeros(3)
    gradient, aux = irax.grad(lambda x, y: (mse_loss(x, y), x - y), has_aux=True)(x, y)
    np.testing.assert_allclose(gradient, np.array([2, 4, 6]) / 3, rtol=1e-6)
    np.testing.assert_array_equal(aux, x)


def test_jit_of_integers():
    def selu(x, alpha=1.67, lambda_=1.05):
        return lambda_ * jnp.where(x > 0, x, alpha * jnp.exp(x) - alpha)

    x = jnp.arange(1000000)
    selu_jit = irax.jit(selu)
    for _ in range(2):
        np.testing.assert_allclose(selu_jit(x), 1.05 * np.arange(1000000), rtol=1e-6)
    np.testing.assert_allclose(selu(x)[:5], 1.05 * np.arange(5), rtol=1e-6)


def test_control_flow():
    def f(x):
        return x if x > 0 else 0

    with pytest.raises(irax.errors.ConcretizationTypeError, match=r"test_notes\.py"):
        jit(f)(10)
    assert float(grad(f)(10.0)) == 1.0
    assert int(lax.cond(True, lambda x: x, lambda x: 0, 3)) == 3
    assert int(lax.cond(False, lambda x: x, lambda x: 0, 3)) == 0
    assert int(jit(f, static_argnums=(0,))(10)) == 10


def test_loops():
    x = jnp.array([1.0, 2.0, 3.0])

    def g(x, n):
        y = 0
        for i in range(n):
            y = y + x[i]
        return y

    with pytest.raises(irax.errors.TracerIntegerConversionError, match="static_argnums"):
        jit(g)(x, 3)
    assert float(jit(g, static_argnums=(1,))(x, 3)) == 6.0

    def g2(x):
        y = 0.0
        for i in range(x.shape[0]):
            y = y + x[i]
        return y

    assert float(jit(g2)(x)) == 6.0


def test_vmap():
    def func(x, y):
        return x @ y

    x, y = jnp.array([1.0, 2.0, 3.0]), jnp.array([0.0, 0.0, 0.0])
    xs, ys = jnp.stack([x, x + 1], axis=0), jnp.stack([y, y + 1], axis=0)
    expected = [0.0, 9.0]
    np.testing.assert_array_equal(irax.vmap(func)(xs, ys), expected)
    transposed = irax.vmap(func, in_axes=1)(jnp.transpose(xs), jnp.transpose(ys))
    np.testing.assert_array_equal(transposed, expected)
    mixed = irax.vmap(func, in_axes=(0, 1))(xs, jnp.transpose(ys))
    np.testing.assert_array_equal(mixed, expected)
    shared = irax.vmap(func, in_axes=(0, None))(xs, x)
    np.testing.assert_array_equal(shared, [14.0, 20.0])


def test_pmap():
    def func(x, y):
        return x @ y

    x, y = jnp.array([1.0, 2.0, 3.0]), jnp.array([0.0, 0.0, 1.0])
    xs, ys = jnp.stack([x, x + 1], axis=0), jnp.stack([y, y], axis=0)
    np.testing.assert_array_equal(irax.pmap(func)(xs, ys), [3.0, 4.0])

    def normalized_convolution(x, w):
        output = []
        for i in range(1, len(x) - 1):
            output.append(jnp.dot(x[i - 1 : i + 2], w))
        output = jnp.array(output)
        return output / lax.psum(output, axis_name="p")

    shares = irax.pmap(normalized_convolution, axis_name="p")(xs, xs)
    np.testing.assert_allclose(shares, [[14 / 43], [29 / 43]], rtol=1e-6)
    nested = irax.vmap(irax.pmap(lambda x: lax.psum(x, "i"), axis_name="i"), axis_name="j")
    np.testing.assert_array_equal(nested(jnp.ones((3, 2))), np.full((3, 2), 2.0))


class Params(NamedTuple):
    weight: irax.Array
    bias: irax.Array


@pytest.mark.slow
def test_an_update_on_all_devices():
    def loss_fn(params, xs, ys):
        return jnp.mean((params.weight * xs + params.bias - ys) ** 2)

    @functools.partial(irax.pmap, axis_name="num_devices")
    def update(params, xs, ys):
        loss, grads = irax.value_and_grad(loss_fn)(params, xs, ys)
        grads = lax.pmean(grads, axis_name="num_devices")
        loss = lax.pmean(loss, axis_name="num_devices")
        return irax.tree_multimap(lambda param, g: param - g * 0.005, params, grads), loss

    rng = np.random.default_rng(0)
    xs = rng.normal(size=(128, 1))
    ys = xs * 2 - 1 + 0.5 * rng.normal(size=(128, 1))
    slope, offset = np.polyfit(xs[:, 0], ys[:, 0], 1)
    for n_devices in (irax.local_device_count(), 4):
        weights_key, bias_key = random.split(random.PRNGKey(123))
        params = Params(random.normal(weights_key, ()), random.normal(bias_key, ()))
        replicated = irax.tree_map(lambda x, n=n_devices: jnp.array([x] * n), params)
        parts = [a.reshape(n_devices, 128 // n_devices, 1) for a in (xs, ys)]
        for _ in range(1000):
            replicated, loss = update(replicated, *parts)
        assert loss.shape == (n_devices,)
        trained = irax.device_get(irax.tree_map(lambda x: x[0], replicated))
        np.testing.assert_allclose(trained, [slope, offset], rtol=1e-2)


def test_random():
    key = random.PRNGKey(42)
    np.testing.assert_array_equal(key, [0, 42])
    first = random.normal(key)
    np.testing.assert_allclose(first, -0.1847, atol=5e-5)
    assert float(random.normal(key)) == float(first)
    key, subkey = random.split(key)
    assert float(random.normal(subkey)) != float(first)
    key, subkeys = random.split(key, num=2)
    assert subkeys.shape == (2,)


def test_pytrees():
    trees = [
        ([1, "a", object()], 3),
        ((1, (2, 3), ()), 3),
        ([1, {"k1": 2, "k2": (3, 4)}, 5], 5),
        ({"a": 2, "b": (2, 3)}, 3),
        (jnp.array([1, 2, 3]), 1),
    ]
    for tree, count in trees:
        assert len(irax.tree_leaves(tree)) == count
    tree = [[1, 2, 3], [1, 2], [1, 2, 3, 4]]
    doubled = [[2, 4, 6], [2, 4], [2, 4, 6, 8]]
    assert irax.tree_map(lambda x: x * 2, tree) == doubled
    assert irax.tree_multimap(lambda x, y: x + y, tree, tree) == doubled
    assert irax.tree_leaves([None, None, None]) == []


def test_devices():
    assert len(irax.devices()) == irax.local_device_count() == 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "setting",
    [
        'from irax.config import config; config.update("jax_enable_x64", True)',
        'import irax; irax.config.update("enable_x64", True)',
        'import os; os.environ["IRAX_ENABLE_X64"] = "True"',
    ],
)
def test_x64(setting):
    code = f"{setting}\nimport irax.numpy as jnp\nprint(jnp.ones(1).dtype, jnp.arange(2).dtype)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["float64", "int64"]


def test_nans():
    setting = 'from irax.config import config\nconfig.update("jax_debug_nans", True)'
    code = f"{setting}\nimport irax\nimport irax.numpy as jnp\nirax.jit(lambda x: jnp.log(x))(-1.0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "FloatingPointError: invalid value (nan) encountered in log" in done.stderr
