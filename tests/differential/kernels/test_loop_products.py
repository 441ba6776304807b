"""Products of matrices inside of loops that are kernels, for chips with few and many registers."""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler import chips

CHIPS = "generic", "x86-64-v3", "x86-64-v4"
SIZES = (13, 37), (5, 16), (8, 100), (1, 70), (64, 3)  # rests of rows and of columns


def iterated(many, batch):
    """Repeated products of square matrices by matrices of some columns, and of a batch."""

    def step(i, carried):
        *xs, y = carried
        return *(jnp.tanh(a @ x) for a, x in zip(many, xs, strict=True)), jnp.sin(batch @ y)

    starts = [jnp.cos(a[:, :1] + jnp.arange(n)) for a, (_, n) in zip(many, SIZES, strict=True)]
    return lax.fori_loop(0, 3, step, (*starts, batch[..., :19]))


@pytest.mark.sampled(6)
@pytest.mark.skipif(not chips.IS_X86, reason="the chips are of x86-64")
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(("dtype", "error"), [("float32", 1e-5), ("float64", 1e-13)])
def test_beside_the_evaluator(chip, dtype, error, monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    generator = np.random.default_rng(0)
    with irax.enable_x64(True):
        many = [generator.standard_normal((n, n)).astype(dtype) / 8 for n, _ in SIZES]
        batch = generator.standard_normal((3, 20, 20)).astype(dtype) / 8
        with chips.compiling_for(chip):
            found = irax.jit(iterated)(many, batch)
        with irax.disable_jit():
            expected = iterated(many, batch)
    for x, y in zip(found, expected, strict=True):
        assert x.dtype == dtype
        np.testing.assert_allclose(x, y, rtol=0, atol=error)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_single_column_beside_blocks_of_them(dtype):
    generator = np.random.default_rng(1)
    with irax.enable_x64(True):
        x, w = (generator.standard_normal((n, 97)).astype(dtype) / 8 for n in (64, 97))

        def run(x):
            return lax.fori_loop(0, 2, lambda i, x: jnp.tanh(x @ w), x)

        np.testing.assert_allclose(irax.jit(run)(x), run(x), rtol=0, atol=1e-5)
