"""Order and extremes of floats of 8 bits, of which most have no infinities, some no 0, and some a
nan with the bits of a negative zero. Expected values are NumPy's in float64.
"""

import ml_dtypes
import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

COMPILED = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"]
"""The dtypes that the CPU's compiler takes."""
DTYPES = [*COMPILED, "float8_e4m3b11fnuz", "float8_e4m3", "float8_e3m4", "float8_e8m0fnu"]
ROWS = np.array([[2, np.nan, 4], [np.nan, 1, 0.5], [1, 2, 2]])


def ways(dtype):
    return [lambda f: f, irax.jit] if dtype in COMPILED else [lambda f: f]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["nanmax", "nanmin", "nanargmax", "nanargmin", "nanprod"])
def test_reductions_without_nan(dtype, name):
    x = jnp.asarray(ROWS.astype(getattr(ml_dtypes, dtype)))
    for way in ways(dtype):
        found = way(lambda x: getattr(jnp, name)(x, 1))(x)
        assert found.dtype == (x.dtype if "arg" not in name else np.int32)
        np.testing.assert_array_equal(np.asarray(found).astype(float), getattr(np, name)(ROWS, 1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_least_number_is_above_nan(dtype):
    own = getattr(ml_dtypes, dtype)
    least, most = ml_dtypes.finfo(own).min, ml_dtypes.finfo(own).max
    low, high = (jnp.asarray(np.array([np.nan, y], own)) for y in (least, most))
    if not np.isinf(float(least)):
        assert jnp.nanargmax(low) == jnp.nanargmin(high) == 1
    assert float(jnp.nanmax(low)) == float(least)
    assert float(jnp.nanmin(high)) == float(most)
    assert np.isnan(float(jnp.nanmax(jnp.full(2, np.nan, own))))


def test_sums_of_floats_without_zero():
    x = jnp.asarray(np.array([1, np.nan, 4, 3], ml_dtypes.float8_e8m0fnu))
    assert float(jnp.nansum(x)) == 8  # 1 + 4 + 4, as 3 is not among them
    np.testing.assert_array_equal(np.asarray(jnp.nancumsum(x)).astype(float)[:3], [1, 1, 4])
    assert float(x[::2].sum()) == 4


@pytest.mark.parametrize("dtype", [t for t in DTYPES if t != "float8_e8m0fnu"])
@pytest.mark.parametrize("count", [6, 40])
def test_nan_comes_last(dtype, count):
    values = np.resize([2, np.nan, 4, -1, 0, 0.5], count)
    x = jnp.asarray(values.astype(getattr(ml_dtypes, dtype)))
    order = np.argsort(values, kind="stable")
    for way in ways(dtype):
        found = way(lambda x: (jnp.sort(x), jnp.argsort(x), lax.sort((x, x))[1]))
        ascending, places, second = found(x)
        np.testing.assert_array_equal(np.asarray(ascending).astype(float), values[order])
        np.testing.assert_array_equal(places, order)
        np.testing.assert_array_equal(np.asarray(second).astype(float), values[order])
        falling = way(lambda x: jnp.sort(x, descending=True))(x)
        np.testing.assert_array_equal(np.asarray(falling).astype(float), values[order[::-1]])
        found = way(lambda x: jnp.searchsorted(jnp.sort(x), x))(x)
        np.testing.assert_array_equal(found, np.searchsorted(values[order], values))


@pytest.mark.parametrize("dtype", COMPILED)
def test_windows(dtype):
    """NumPy makes views for its own numbers only, to which float8_e5m2 seems to belong."""
    x = jnp.asarray(np.arange(6.0).astype(getattr(ml_dtypes, dtype)))
    for way in ways(dtype):
        windows = way(lambda x: lax.reduce_window(x, -8.0, lax.max, (2,), (1,), "VALID"))(x)
        np.testing.assert_array_equal(np.asarray(windows).astype(float), [1, 2, 3, 4, 5])
        parts = way(irax.vmap(lambda k: lax.dynamic_slice(x, (k,), (2,))))(jnp.array([1, 3]))
        np.testing.assert_array_equal(np.asarray(parts).astype(float), [[1, 2], [3, 4]])
