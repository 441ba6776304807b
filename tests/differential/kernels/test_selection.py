"""The order of short rows, and the first elements of long ones, by kernels, beside NumPy's stable
sort.
"""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler.passes.kernels.moves import selection

COUNT = 5
LENGTH = 677  # a number of vectors, and a rest


def _rows(dtype: str, length: int) -> np.ndarray:
    """Random rows, and rows that are constant, ascending, descending, and of few numbers."""
    generator = np.random.default_rng(0)
    ascending = np.arange(length) // 3
    kinds = [
        generator.standard_normal(length) * 50,
        np.zeros(length),
        ascending,
        ascending[::-1],
        generator.integers(0, 3, length),
    ]
    return np.stack(kinds).astype(dtype)


def _finite(x: np.ndarray) -> np.ndarray:
    """Finite numbers in the same order; nan is the largest."""
    return np.nan_to_num(x.astype(np.float64), nan=1e301, posinf=1e300, neginf=-1e300)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("length", [23, 32, 63])
def test_short_rows(length):
    dtypes = ("float32", "int32", "uint32", "int16", "uint8", "float16", "float64", "int64")
    with irax.enable_x64(True):
        arrays = [_rows(dtype, length) for dtype in dtypes]
        arrays[0][0, 3:10] = np.nan, np.inf, -np.inf, 0, -0.0, np.nan, np.inf
        arrays[0][0, length - 1] = np.nan
        results = irax.jit(
            lambda xs: [
                (jnp.argsort(x), jnp.sort(x, descending=True), jnp.sort(x.T, axis=0)) for x in xs
            ]
        )(arrays)
    for x, (places, descending, columns) in zip(arrays, results, strict=True):
        wanted = np.argsort(_finite(x), axis=1, kind="stable")
        np.testing.assert_array_equal(places, wanted)
        ordered = np.take_along_axis(x, wanted, 1)[:, ::-1]
        np.testing.assert_array_equal(descending, ordered)
        np.testing.assert_array_equal(columns, ordered[:, ::-1].T)


def test_first_elements():
    assert selection.pays(LENGTH, COUNT)
    arrays = [
        _rows(dtype, LENGTH)
        for dtype in ("float32", "int32", "uint32", "int16", "uint8", "float16")
    ]
    arrays[0][0, ::100] = np.nan, np.inf, -np.inf, 0, -0.0, np.nan, np.inf
    results = irax.jit(lambda *xs: [lax.top_k(x, COUNT) for x in xs])(*arrays)
    for x, (values, places) in zip(arrays, results, strict=True):
        wanted = np.argsort(-_finite(x), axis=1, kind="stable")[:, :COUNT]
        np.testing.assert_array_equal(places, wanted)
        np.testing.assert_array_equal(values, np.take_along_axis(x, wanted, 1))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("descending", [False, True])
def test_first_of_equal_numbers(descending):
    """Zeros are equal, and so are numbers that are none, whatever their signs."""
    kinds = np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1, 1e-40], np.float32)
    x = np.random.default_rng(1).choice(kinds, (6, LENGTH))
    places = irax.jit(lambda x: jnp.argsort(x, descending=descending)[:, :COUNT])(x)
    keys = -_finite(x) if descending else _finite(x)
    wanted = np.argsort(keys, axis=1, kind="stable")[:, :COUNT]
    np.testing.assert_array_equal(places, wanted)


def test_one_long_row():
    x = np.random.default_rng(1).permutation(300_000).astype(np.int32)
    values, places = irax.jit(lambda x: lax.top_k(x, 10))(x)
    np.testing.assert_array_equal(values, 299_999 - np.arange(10))
    np.testing.assert_array_equal(x[np.asarray(places)], values)
