"""Kernels on vectors of any number of elements, compared with NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.upstream.reproduction import in_child

import irax
import irax.numpy as jnp
from irax_compiler import api, targets

SECONDS = 60
"""The limit for what takes LLVM less than a second, and did not finish."""


def _chain(x: Any, y: Any, where: Any) -> Any:
    """Divisions and choices, whose integers LLVM makes narrower."""
    x = jnp.where(where[0], 0, x % 900)
    x = jnp.where(where[1], 899, x)
    x = jnp.where(where[2], x, 900)
    return jnp.concatenate([jnp.where(where[3], 30, x // 30 % 30), jnp.where(where[3], 30, x), y])


def _arguments(n: int, dtype: str) -> tuple[Any, ...]:
    random = np.random.default_rng(0)
    x, y = random.integers(1, 100, (2, n)).astype(dtype)
    return x, y, [np.arange(n) % k == 0 for k in (2, 3, 5, 7)]


def _compiled(n: int, dtype: str) -> str:
    ir = irax.make_ir(_chain)(*_arguments(n, dtype))
    targets.compile(api.lower(ir.module, ir.func, "iree-cpu"), "iree-cpu:x86-64-v4")
    return "compiled"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("n", "dtype"), [(33, "i4"), (45, "i4"), (17, "i8")])
def test_llvm_compiles_chains_in_little_time(n: int, dtype: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    with irax.enable_x64():
        assert in_child(partial(_compiled, n, dtype), SECONDS) == "compiled"


@pytest.mark.sampled(24)
@pytest.mark.parametrize("n", [17, 18, 31, 45, 63, 65, 100, 127])
@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "f4"])
def test_values(n: int, dtype: str):
    """Elementwise operations, moves, reductions and choices, in a loop and outside of it."""
    is_negated = np.arange(n) % 3 == 0

    def step(i: Any, x: Any, y: Any, np_: Any) -> Any:
        for k in range(3):
            x = np_.where(is_negated, y - x, x // 3) + y * y - k
        x = np_.concatenate([x[n // 2 :], x[: n // 2]])
        return x + np_.max(x) - i, y

    def loop(x: Any, y: Any) -> Any:
        def body(i: Any, carried: Any) -> Any:
            return step(i.astype(dtype), carried[0], carried[1], jnp)

        return irax.lax.fori_loop(0, 3, body, step(np.dtype(dtype).type(7), x, y, jnp))[0]

    x, y, _ = _arguments(n, dtype)
    expected, kind = x, np.dtype(dtype).type
    for i in (7, 0, 1, 2):
        expected, _ = step(kind(i), expected, y, np)
    with irax.enable_x64():
        np.testing.assert_allclose(irax.jit(loop)(x, y), expected, rtol=1e-5)
