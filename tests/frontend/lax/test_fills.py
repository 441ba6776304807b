"""One value written over several elements, in every order of their places, beside NumPy."""

from itertools import permutations

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax


@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_equal_elements_in_any_order(dtype):
    """Three at a time in one program, of which two or three lie side by side."""
    x = np.arange(1, 7).astype(dtype)
    orders = list(permutations((1, 2, 3)))

    def written(x):
        rows = []
        for order in orders:
            row = x + x
            for place in order:
                row = lax.dynamic_update_slice(row, jnp.zeros(1, dtype), (place,))
            rows.append(row)
        return rows

    expected = x + x
    expected[1:4] = 0
    for row in irax.jit(written)(x):
        np.testing.assert_array_equal(row, expected)


def test_boxes_of_a_matrix():
    """From the end to the start, with another value between them, and a place outside."""

    @irax.jit
    def written(x):
        y = jnp.sin(x)
        for value, place in (
            (0.0, (5, 5)),
            (0.0, (5, 4)),
            (1.0, (2, 2)),
            (0.0, (2, 1)),
            (0.0, (0, 9)),
        ):
            y = lax.dynamic_update_slice(y, jnp.full((1, 1), value), place)
        return y, jnp.exp(y)

    x = np.random.default_rng(0).normal(size=(6, 6)).astype(np.float32)
    expected = np.sin(x)
    expected[[5, 5, 2, 0], [5, 4, 1, 5]] = 0
    expected[2, 2] = 1
    y, e = written(x)
    np.testing.assert_allclose(y, expected, atol=1e-6)
    np.testing.assert_allclose(e, np.exp(expected), rtol=1e-5)
