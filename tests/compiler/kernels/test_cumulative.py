"""Kernels of cumulative reductions, run by IREE and compared with NumPy's in float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import irax
import irax.numpy as jnp

SHAPES = [((70_001,), 0), ((3, 66_000), 1), ((40, 2100), 1), ((300, 33), 0), ((2, 1500, 5), 1)]
"""Shapes and axes: lines that are divided and that are not, of neighbours and side by side."""
UFUNCS = {"cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum}
CASES: list[tuple[str, Any, bool]] = [
    ("cumsum", np.float32, False),
    ("cumsum", np.float16, True),
    ("cumprod", ml_dtypes.bfloat16, False),
    ("cummax", np.float32, True),
    ("cummin", np.int16, False),
    ("cummin", np.float16, False),
    ("cummax", ml_dtypes.bfloat16, True),
    ("cummax", np.uint8, True),
    ("cumsum", np.int32, True),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dtype", "reverse"), CASES)
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_values(shape: tuple[int, ...], axis: int, name: str, dtype: Any, reverse: bool) -> None:
    check(shape, axis, name, dtype, reverse)


def test_values_of_a_divided_line() -> None:
    check((140_003,), 0, "cumsum", np.float32, True)


def test_extrema_of_narrow_floats() -> None:
    check((300, 33), 0, "cummax", np.float16, False)


def check(shape: tuple[int, ...], axis: int, name: str, dtype: Any, reverse: bool) -> None:
    x = np.random.default_rng(0).normal(size=shape) * 3
    x = (1 + 0.01 * x if name == "cumprod" else x).astype(np.int8 if dtype is np.uint8 else dtype)
    x = x.astype(dtype)
    is_float = jnp.issubdtype(dtype, jnp.floating)
    if is_float and name in ("cummax", "cummin"):
        x.ravel()[x.size // 2] = np.nan
    function = getattr(irax.lax, name)
    found = np.asarray(irax.jit(lambda x: function(x, axis, reverse=reverse))(x))
    wide = np.float64 if is_float else dtype
    turned = np.flip(x, axis) if reverse else x
    expected = UFUNCS[name].accumulate(turned.astype(wide), axis, dtype=wide)
    expected = np.flip(expected, axis) if reverse else expected
    assert found.dtype == dtype
    if not is_float:
        np.testing.assert_array_equal(found, expected)
        return
    size = np.max(np.abs(np.nan_to_num(expected)), axis, keepdims=True)
    bound = {2: 2e-2, 4: 3e-6}[np.dtype(dtype).itemsize] * (size + 1)
    assert np.all(np.nan_to_num(np.abs(found.astype(wide) - expected)) < bound)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))


@pytest.mark.slow
def test_sums_of_ones_do_not_stop_at_2_to_the_24() -> None:
    found = irax.jit(lambda x: jnp.cumsum(x))(np.full(2**25 + 3, 1, np.float32))
    np.testing.assert_array_equal(found[-3:], np.float32([2**25 + 1, 2**25 + 2, 2**25 + 3]))
