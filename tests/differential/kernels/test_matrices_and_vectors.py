"""Products of matrices and vectors as sums of products, beside NumPy's einsum in float64."""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler.passes.legalize.iree import products

CASES = [
    # the product, the shapes of its factors
    ("ij,j->i", (150, 201), (201,)),
    ("ij,i->j", (150, 201), (150,)),
    ("j,ij->i", (201,), (150, 201)),
    ("ij,jk->ik", (150, 201), (201, 1)),
    ("bij,bj->bi", (300, 16, 15), (300, 15)),
    ("bij,bi->bj", (300, 16, 15), (300, 16)),
    ("jbi,ib->bj", (40, 30, 20), (20, 30)),
    ("habc,bha->hc", (3, 40, 20, 21), (20, 3, 40)),
    ("i,i->", (20000,), (20000,)),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-6), ("float16", 1e-3)])
def test_products(monkeypatch, dtype, tolerance):
    monkeypatch.setattr(products, "LEAST_MATRIX", 2)
    monkeypatch.setattr(products, "LARGE_MATRIX", 0)
    generator = np.random.default_rng(0)
    factors = [
        [generator.standard_normal(shape).astype(dtype) for shape in shapes] for _, *shapes in CASES
    ]

    def all_products(factors):
        return [jnp.einsum(text, *xs) for (text, *_), xs in zip(CASES, factors, strict=True)]

    assert "dot_general" in irax.jit(all_products).lower(factors).as_text()
    for (text, *_), xs, found in zip(CASES, factors, irax.jit(all_products)(factors), strict=True):
        expected = np.einsum(text, *(x.astype(np.float64) for x in xs))
        assert found.dtype == dtype
        assert found.shape == expected.shape
        error = np.abs(np.asarray(found, np.float64) - expected).max()
        assert error <= tolerance * np.abs(expected).max() + 1e-30, text
