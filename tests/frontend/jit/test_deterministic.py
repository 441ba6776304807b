"""The option deterministic="batch": bits of a row do not depend on the batch's size."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import api

RANDOM = np.random.default_rng(0)
ROWS = 33
W = RANDOM.normal(size=(300, 70)).astype(np.float32)
X = RANDOM.normal(size=(ROWS, 300)).astype(np.float32)


def of_batches(function, *arrays, sizes=(1, 2, 7, 16, ROWS)):
    """Return the results for batches of some sizes, cut to the rows that the smaller ones have."""
    with irax.deterministic("batch"):
        compiled = irax.jit(function)
        return [np.asarray(compiled(*(x[:n] for x in arrays))) for n in sizes]


def check(function, *arrays, wanted=None, tolerance=1e-5, sizes=(1, 2, 7, 16, ROWS)):
    found = of_batches(function, *arrays, sizes=sizes)
    whole = found[-1]
    for rows in found:
        np.testing.assert_array_equal(rows, whole[: len(rows)])
    if wanted is not None:
        np.testing.assert_allclose(whole, wanted, rtol=tolerance, atol=tolerance * 10)


def test_products():
    check(lambda x: x @ W, X, wanted=X.astype(np.float64) @ W, sizes=(1, ROWS))


@pytest.mark.parametrize("rows", [3, 6])
def test_solutions_of_few_equations(rows):
    a, b = RANDOM.normal(size=(600, rows, rows)), RANDOM.normal(size=(600, rows, 2))
    a, b = a.astype(np.float32), b.astype(np.float32)
    check(jnp.linalg.solve, a, b, sizes=(1, 5, 600))


@pytest.mark.slow
@pytest.mark.parametrize("depth", [2, 31, 256, 257, 1000])
@pytest.mark.parametrize("columns", [1, 3, 16, 130])
def test_products_of_any_size(depth, columns):
    random = np.random.default_rng(depth)
    w = random.normal(size=(depth, columns)).astype(np.float32)
    x = random.normal(size=(ROWS, depth)).astype(np.float32)
    check(lambda x: x @ w, x, wanted=x.astype(np.float64) @ w)
    check(lambda x: x @ w.T.copy().T, x)
    check(lambda x: (w.T @ x.T).T, x)
    check(irax.vmap(lambda row: w.T @ row), x)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, jnp.bfloat16, np.float16, np.complex64])
def test_dtypes(dtype):
    with irax.enable_x64():
        w, x = W.astype(dtype), X.astype(dtype)
        if np.dtype(dtype).kind == "c":
            w, x = w * (1 + 2j), x * (2 - 1j)
        check(lambda x: x @ w, x)


@pytest.mark.parametrize("dtype", [jnp.bfloat16, np.float16])
def test_products_of_narrow_numbers_are_rounded(dtype):
    """Processors have instructions for bfloat16, which pay for some numbers of rows."""

    def f(x):
        return (x.astype(dtype) @ W.astype(dtype)).astype(np.float32)

    whole = of_batches(f, X, sizes=(1, 3, ROWS))[-1]
    check(f, X, sizes=(1, 3, ROWS))
    np.testing.assert_array_equal(whole, whole.astype(dtype).astype(np.float32))


def images(x):
    return x.reshape(-1, 3, 10, 10)


def attention(x):
    heads = x.reshape(-1, 10, 30)
    scores = irax.nn.softmax(jnp.einsum("bqd,bkd->bqk", heads, heads))
    return jnp.einsum("bqk,bkd->bqd", scores, heads)


PROGRAMS = {
    "network": lambda x: irax.nn.softmax(jnp.tanh(x @ W + 1) @ W[:70, :40]),
    "attention": attention,
    "norm": lambda x: irax.nn.standardize(x) @ W,
    "gradient": irax.vmap(irax.grad(lambda row: jnp.sum(jnp.sin(row @ W) ** 2))),
    "loop": lambda x: irax.lax.fori_loop(0, 3, lambda _, s: jnp.tanh(s @ W[:70]), x[:, :70]),
    "convolution": lambda x: irax.lax.conv(
        images(x), W[:27].reshape(-1, 3, 3, 3)[:8], (1, 1), "SAME"
    ),
    "pointwise": lambda x: irax.lax.conv(
        images(x), W[:3, :8].T.reshape(8, 3, 1, 1), (1, 1), "SAME"
    ),
    "dot": irax.vmap(lambda row: row @ W[:, 0]),
    "sums": lambda x: jnp.sum(x, 1) + jnp.cumsum(x, 1)[:, -1] + jnp.var(x, 1),
    "short": lambda x: jnp.sum(x[:, :40], 1) + jnp.prod(x[:, :5], 1) + jnp.sum(x[:, :3], 1),
    "columns": lambda x: jnp.sum(x.reshape(-1, 20, 15), 1),
    "products": lambda x: x[:, 299::-1] * W[:, 1] + x * W[:, 0],
    "pooling": lambda x: irax.lax.reduce_window(
        x[:, :256].reshape(-1, 16, 16), 0.0, irax.lax.add, (1, 3, 3), (1, 1, 1), "SAME"
    ),
    "fourier": lambda x: (
        jnp.fft.irfft(jnp.fft.rfft(x[:, :256])) + jnp.fft.rfft(x[:, :255]).real[:, :1]
    ),
    "triangular": lambda x: irax.lax.linalg.triangular_solve(
        x[:, :64].reshape(-1, 8, 8) + 9 * jnp.eye(8), x[:, :16].reshape(-1, 8, 2), left_side=True
    ),
    "distances": lambda x: jnp.sqrt(jnp.sum((x[:, None] - W.T[:9]) ** 2, -1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    check(PROGRAMS[name], X)


@pytest.mark.slow
def test_functions_for_all_sizes():
    """There is a program for each size: one for all would choose its kernels by a usual one."""

    def f(x):
        return x @ W

    with irax.deterministic("batch"):
        whole = np.asarray(irax.jit(f)(X))
        any_size = irax.jit(f, dynamic_shapes={"x": "b, 300"})
        for n in (1, 5, ROWS):
            np.testing.assert_array_equal(np.asarray(any_size(X[:n])), whole[:n])


def test_the_option():
    with pytest.raises(ValueError, match="deterministic must be one of None, 'batch', got 'rows'"):
        irax.config.update("deterministic", "rows")
    f = irax.jit(lambda x: x @ W)
    plain = f.lower(X).as_text()
    with irax.deterministic("batch"):
        assert "irax.deterministic" in f.lower(X).as_text()
    assert "irax.deterministic" not in plain


def test_chips_that_round_twice_refuse():
    with irax.deterministic("batch"):
        ir = irax.make_ir(lambda x: x @ W)(X)
    with pytest.raises(api.PassError, match="expected one of x86-64-v3 or later"):
        api.lower(ir.module, ir.func, "iree-cpu:x86-64")
