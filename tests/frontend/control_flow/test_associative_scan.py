"""lax.associative_scan against accumulation by NumPy, and its derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.test_util import check_grads

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("size", range(10))
@pytest.mark.parametrize("reverse", [False, True])
def test_sums(size, reverse):
    x = RNG.normal(size=(2, size, 3))
    for axis in (1, -2):
        found = lax.associative_scan(jnp.add, x, reverse=reverse, axis=axis)
        there = x[:, ::-1] if reverse else x
        expected = np.cumsum(there, 1)
        np.testing.assert_allclose(found, expected[:, ::-1] if reverse else expected, atol=1e-5)


def matrices(a, b):
    return jnp.einsum("nij,njk->nik", a, b)


def test_the_order_of_what_does_not_commute():
    x = RNG.normal(size=(7, 2, 2)).astype(np.float32)
    expected = [x[0]]
    for row in x[1:]:
        expected.append(expected[-1] @ row)
    np.testing.assert_allclose(lax.associative_scan(matrices, x), expected, rtol=1e-4)
    backward = lax.associative_scan(matrices, x[::-1], reverse=True)
    np.testing.assert_allclose(backward, expected[::-1], rtol=1e-4)


def recurrence(a, b):
    """Steps h -> m h + s, composed."""
    return {"m": b["m"] * a["m"], "s": b["m"] * a["s"] + b["s"]}


def test_a_linear_recurrence():
    m, s = RNG.normal(size=(2, 11)).astype(np.float32)
    h, expected = 0.0, []
    for i in range(11):
        h = m[i] * h + s[i]
        expected.append(h)

    def f(m, s):
        return lax.associative_scan(recurrence, {"m": m, "s": s})["s"]

    np.testing.assert_allclose(f(m, s), expected, rtol=1e-4)
    np.testing.assert_allclose(irax.jit(f)(m, s), expected, rtol=1e-4)
    check_grads(f, (m[:5], s[:5]), order=2)
    lanes = irax.vmap(f, (None, 0))(m, np.stack([s, 2 * s]))
    np.testing.assert_allclose(lanes, [expected, 2 * np.array(expected)], rtol=1e-4)


def test_errors():
    with pytest.raises(TypeError, match="expected a function"):
        lax.associative_scan(1, np.ones(3))
    with pytest.raises(ValueError, match="no arrays"):
        lax.associative_scan(jnp.add, [])
    with pytest.raises(ValueError, match=r"elems\[0\]: float32\[3\], elems\[1\]: float32\[2\]"):
        lax.associative_scan(lambda a, b: a, (np.ones(3), np.ones(2)))
    with pytest.raises(ValueError, match="axis 1 is out of bounds"):
        lax.associative_scan(jnp.add, np.ones(3), axis=1)
    with pytest.raises(TypeError, match="must have the structure of elems"):
        lax.associative_scan(lambda a, b: (a, b), np.ones(3))
    with pytest.raises(TypeError, match=r"keep the shapes"):
        lax.associative_scan(lambda a, b: jnp.sum(a), np.ones(4))
