"""Kernels that are joined part by part, beside NumPy in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler import mlir
from irax_compiler.lowering import lower
from irax_compiler.passes.kernels.blas import calls
from irax_compiler.passes.kernels.fuse_kernels import pairs
from irax_compiler.passes.kernels.reductions import dispatches


@pytest.fixture(autouse=True)
def two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are divided as for two processors, whatever the machine has, and joined whatever the
    size of what is between them.
    """
    monkeypatch.setattr(pairs, "LARGEST", 1 << 24)
    for module in (calls, dispatches, pairs):
        monkeypatch.setattr(module, "workers_of", lambda function: 2)


def _kernels(function: Callable[..., Any], *arrays: np.ndarray) -> list[str]:
    """Return the kinds of the kernels that a function's program dispatches, in order."""
    module = mlir.parse_module(str(irax.make_ir(function)(*arrays)))
    text = str(lower(module, next(iter(mlir.functions(module)))))
    names = (part.partition("::")[0] for part in text.split("flow.dispatch @")[1:])
    return [name.partition("_")[0] for name in names]


def _weights(xp: Any, scores: Any) -> Any:
    e = xp.exp(scores - xp.max(scores, -1, keepdims=True))
    return e / xp.sum(e, -1, keepdims=True)


def decoding(xp: Any, cache: Any, query: Any) -> Any:
    weights = _weights(xp, xp.einsum("htd,hd->ht", cache, query))
    return xp.einsum("ht,htd->hd", weights, cache)


def attention(xp: Any, q: Any, k: Any, v: Any) -> Any:
    weights = _weights(xp, xp.einsum("bqhd,bkhd->bhqk", q, k) / 8)
    return xp.einsum("bhqk,bkhd->bqhd", weights, v)


def kept(xp: Any, q: Any, k: Any) -> Any:
    """A product, used after the second kernel too, and sums of it."""
    scores = xp.einsum("hqd,hkd->hqk", q, k)
    return xp.sum(scores * scores, -1), xp.sin(scores)


def columns(xp: Any, x: Any, y: Any) -> Any:
    """Sums over rows of a product, which take several items for each part."""
    scores = xp.einsum("hqd,hkd->hqk", x, y)
    return scores / xp.sum(xp.abs(scores), 1, keepdims=True)


def reshaped(xp: Any, x: Any, y: Any) -> Any:
    scores = xp.einsum("hqd,hkd->hqk", x, y)
    return xp.sum(scores.reshape(-1, scores.shape[-1]), -1)


CASES = [
    # the function, the shapes of its arguments, the kernels
    (decoding, [(8, 500, 64), (8, 64)], ["chain"]),
    (decoding, [(16, 2048, 64), (16, 64)], ["chain"]),
    (attention, [(2, 100, 8, 32)] * 3, ["chain"]),
    (attention, [(4, 128, 8, 32)] * 3, ["chain"]),
    (attention, [(1, 200, 8, 64)] * 3, ["chain"]),
    (kept, [(8, 100, 40), (8, 90, 40)], ["chain"]),
    (columns, [(8, 120, 40), (8, 100, 40)], ["chain"]),
    (reshaped, [(8, 120, 40), (8, 100, 40)], ["chain"]),
]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("function", "shapes", "kernels"), CASES)
def test_parts(function, shapes, kernels, dtype):
    generator = np.random.default_rng(0)
    arrays = [generator.standard_normal(shape).astype(dtype) for shape in shapes]
    with irax.enable_x64(dtype == np.float64):

        def jitted(*arrays):
            return function(jnp, *arrays)

        found = irax.jit(jitted)(*arrays)
        assert _kernels(jitted, *arrays) == kernels
    expected = function(np, *(x.astype(np.float64) for x in arrays))
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    for x, y in zip(irax.tree.leaves(found), irax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(x, y, tolerance, tolerance * np.abs(y).max())


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_products(dtype):
    """Their factors are in memory of the workgroup's own, written before the loop over items."""
    generator = np.random.default_rng(4)
    parts = generator.standard_normal((2, 2, 8, 20, 20))
    x, y = (parts[0] + 1j * parts[1]).astype(dtype)
    with irax.enable_x64(dtype == np.complex128):
        assert _kernels(lambda x, y: y @ x @ y, x, y) == ["chain"]
        found = irax.jit(lambda x, y: y @ x @ y)(x, y)
    expected = y.astype(complex) @ x @ y
    tolerance = 1e-5 if dtype == np.complex64 else 1e-12
    np.testing.assert_allclose(found, expected, tolerance, tolerance * np.abs(expected).max())


def test_large_arrays_between_kernels(monkeypatch):
    monkeypatch.undo()
    shapes = [(4, 128, 8, 32)] * 3
    arrays = [np.ones(shape, np.float32) for shape in shapes]
    assert "chain" not in _kernels(lambda *xs: attention(jnp, *xs), *arrays)


@pytest.mark.slow
def test_in_a_loop():
    """The array that a step updates is read by the kernel."""
    generator = np.random.default_rng(1)
    cache = generator.standard_normal((8, 300, 64)).astype(np.float32)
    query = generator.standard_normal((8, 64)).astype(np.float32)

    @irax.jit
    def generated(cache, query):
        def step(i, state):
            cache, query = state
            cache = cache.at[:, i].set(query)
            return cache, decoding(jnp, cache, query)

        return lax.fori_loop(0, 9, step, (cache, query))

    found = generated(cache, query)
    for i in range(9):
        cache[:, i] = query
        query = decoding(np, cache.astype(np.float64), query.astype(np.float64))
    np.testing.assert_allclose(found[0], cache, 1e-5, 1e-5)
    np.testing.assert_allclose(found[1], query, 1e-4, 1e-5)


@pytest.mark.slow
def test_gradients():
    generator = np.random.default_rng(2)
    arrays = [generator.standard_normal((2, 100, 8, 32)).astype(np.float32) for _ in range(3)]

    def total(q, k, v):
        return jnp.sum(jnp.sin(attention(jnp, q, k, v)))

    gradient = irax.grad(total, (0, 1, 2))
    found = irax.jit(gradient)(*arrays)
    assert "chain" in _kernels(gradient, *arrays)
    for x, y in zip(found, gradient(*map(jnp.asarray, arrays)), strict=True):
        np.testing.assert_allclose(x, y, 1e-4, 1e-5)


@pytest.mark.slow
def test_donated_arrays():
    """A kernel writes over an array that is given up, and reads it before."""
    generator = np.random.default_rng(3)
    q, k, bias = (generator.standard_normal((8, 128, 128)).astype(np.float32) for _ in range(3))

    def updated(bias, q, k):
        scores = bias + jnp.einsum("hqd,hkd->hqk", q, k)
        return scores, jnp.sum(scores, -1)

    expected = bias + np.einsum("hqd,hkd->hqk", q.astype(np.float64), k)
    scores, sums = irax.jit(updated, donate_argnums=0)(jnp.array(bias), q, k)
    np.testing.assert_allclose(scores, expected, 1e-4, 1e-4)
    np.testing.assert_allclose(sums, expected.sum(-1), 1e-4, 1e-3)
