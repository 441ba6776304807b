"""Sums of products that the pass part-sums parts: IREE's verifier accepts their kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler.targets.cpu import CPU

W, V = np.array([2, 3], np.float32), np.arange(12, dtype=np.float32).reshape(3, 2, 2)


@pytest.fixture(autouse=True)
def verified(monkeypatch: pytest.MonkeyPatch) -> Any:
    """IREE verifies kernels after each pass, and programs of others do not stand for them."""
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    before = CPU.unverified
    object.__setattr__(CPU, "unverified", frozenset())
    yield
    object.__setattr__(CPU, "unverified", before)


def both(w: Any, v: Any) -> Any:
    """The sum of a product, and the largest element, folded together."""
    w = jnp.broadcast_to(w, v.shape)
    zero = np.float32(0)
    return lax.reduce(
        (w * v, v), (zero, zero), lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])), (0, 1, 2)
    )


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda w, v: (w * v).sum(), np.einsum("k,ijk->", W, V)),
        (lambda w, v: (w * v).sum((1, 2)), np.einsum("k,ijk->i", W, V)),
        (lambda w, v: (w[:, None] * v).sum(), np.einsum("j,ijk->", W, V)),
        (lambda w, v: (v[0, :, None] * v[1]).sum(), np.einsum("ik,jk->", V[0], V[1])),
        (lambda w, v: (jnp.broadcast_to(w, v.shape) ** 2 * v).sum(), np.einsum("k,ijk->", W**2, V)),
        (lambda w, v: (w.astype("int32") * v.astype("int32")).sum(), np.einsum("k,ijk->", W, V)),
        (lambda w, v: both(w, v)[0], np.einsum("k,ijk->", W, V)),
    ],
    ids=["vector", "rows", "column", "outer", "square", "integers", "together"],
)
@pytest.mark.slow
def test_sums_of_products_that_are_broadcast(function: Callable[..., Any], expected: np.ndarray):
    np.testing.assert_allclose(irax.jit(function)(W, V), expected)
