"""Products that loops accumulate, as one product of stacked factors."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

RNG = np.random.default_rng(0)
XS = RNG.normal(size=(6, 2, 16)).astype(np.float32)
W = RNG.normal(size=(16, 16)).astype(np.float32) / 4


@pytest.mark.sampled(2)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("rows", [6, 9])
def test_sums_over_rows_in_either_order(reverse: bool, rows: int):
    """An array of more rows than there are steps is not all of what the products sum over."""
    xs = jnp.asarray(np.concatenate([XS, XS[:3]])[:rows])

    def run(w, xs):
        def step(h, i):
            x = lax.dynamic_index_in_dim(xs, i, keepdims=False)
            h = jnp.tanh(h @ w + x)
            return h, None

        return lax.scan(step, xs[0], jnp.arange(6), reverse=reverse)[0]

    def loss(w, u):
        def step(h, x):
            h = jnp.tanh(h @ w + x @ u)
            return h, h.sum()

        h, sums = lax.scan(step, run(w, xs), xs[:6], reverse=reverse)
        return (h**2).sum() + (sums**2).sum()

    found = irax.jit(irax.grad(loss, (0, 1)))(W, W.T)
    expected = irax.grad(loss, (0, 1))(W, W.T)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("first, last", [(0, 6), (1, 6), (0, 5)])
def test_sums_of_some_rows(first: int, last: int):
    def run(w):
        def step(i, sums):
            k = 5 - i
            row = lax.dynamic_slice(XS, (k, 0, 0), (1, 2, 16)).reshape(2, 16)
            return sums + (jnp.sin(row) * i).T @ row + w

        return lax.fori_loop(first, last, step, jnp.zeros((16, 16)))

    np.testing.assert_allclose(irax.jit(run)(W), run(W), rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_a_gradient_stacks_no_inputs():
    """They are there already."""
    xs = np.concatenate([XS] * 20)

    def loss(w, u):
        return (lax.scan(lambda h, x: (jnp.tanh(h @ w + x @ u), None), xs[0], xs)[0] ** 2).sum()

    memory = irax.jit(irax.grad(loss, (0, 1))).lower(W, W.T).compile().memory_analysis()
    assert memory.temp_size_in_bytes < 4.5 * xs.nbytes


@pytest.mark.parametrize("sums", [1, 2])
def test_products_that_are_used_otherwise(sums: int):
    def run(xs):
        def step(totals, x):
            product = x.T @ x
            return [total + product for total in totals], product.sum(0)

        return lax.scan(step, [W] * sums, xs)

    for a, b in zip(irax.tree.leaves(irax.jit(run)(XS)), irax.tree.leaves(run(XS)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_a_product_in_two_sums():
    def run(xs):
        def step(totals, x):
            product = x.T @ x
            return (totals[0] + product, product + totals[1]), x.sum()

        return lax.scan(step, (W, 2 * W), xs)

    for a, b in zip(irax.tree.leaves(irax.jit(run)(XS)), irax.tree.leaves(run(XS)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
