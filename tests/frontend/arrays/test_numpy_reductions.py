"""Sums, extrema, means, quantiles and running sums, against NumPy."""

import warnings

import ml_dtypes
import numpy as np
import pytest
from tests.frontend.numpy_helpers import numbers, run, tolerance

import irax
import irax.numpy as jnp
from irax.test_util import check_grads

ALL = ("bool", "int32", "uint8", "float32", "float16", ml_dtypes.bfloat16)
REAL = ("int32", "uint8", "float32", "float16", ml_dtypes.bfloat16)
SHAPE = (2, 3, 4)
AXES = (None, 0, -1, (0, 2), (), (0, 1, 2))


def expected_of(function, x, *args, **options):
    wide = x.astype(np.float64) if x.dtype.kind in "fV" else x
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(function(wide, *args, **options))


def compare(result, expected, extra=1.0):
    assert result.shape == expected.shape
    allowed = {name: extra * value for name, value in tolerance(result.dtype).items()}
    np.testing.assert_allclose(result.astype(np.float64), expected, **allowed)


FOLDS = {
    "sum": ALL,
    "prod": ALL,
    "mean": ALL,
    "var": ALL,
    "std": ALL,
    "max": ALL,
    "min": ALL,
    "all": ALL,
    "any": ALL,
    "ptp": REAL,
    "count_nonzero": ALL,
    "median": REAL,
    "nansum": REAL,
    "nanprod": REAL,
    "nanmean": REAL,
    "nanmax": REAL,
    "nanmin": REAL,
    "nanvar": REAL,
    "nanstd": REAL,
}


@pytest.mark.parametrize("name", FOLDS)
def test_folds(name):
    for dtype in FOLDS[name]:
        x = numbers(SHAPE, dtype, 0 if np.dtype(dtype) == np.uint8 else -2, 2)
        if name.startswith("nan") and x.dtype.kind in "fV":
            x[0, 1] = np.nan
        for axis in AXES:
            if axis == () and name in ("median", "ptp"):
                continue
            for keepdims in (False, True):
                options = {"axis": axis, "keepdims": keepdims}
                (result,) = run(lambda x, o=options: getattr(jnp, name)(x, **o), x)
                compare(result, expected_of(getattr(np, name), x, **options), extra=4)


@pytest.mark.parametrize("name", ["sum", "prod", "any", "all", "max", "min", "mean", "var"])
def test_where_and_initial(name):
    x = numbers(SHAPE)
    mask = numbers((3, 4), "bool")
    mask[0] = True
    options = {"axis": 1, "where": mask}
    if name in ("max", "min", "sum", "prod"):
        options["initial"] = 0.5
    (result,) = run(lambda x: getattr(jnp, name)(x, **options), x)
    compare(result, expected_of(getattr(np, name), x, **options))


@pytest.mark.parametrize(
    "name, value", [("sum", 0), ("prod", 1), ("any", False), ("all", True), ("count_nonzero", 0)]
)
def test_nothing_to_fold(name, value):
    (result,) = run(lambda x: getattr(jnp, name)(x, axis=0), np.zeros((0, 2), np.float32))
    np.testing.assert_array_equal(result, [value, value])


def test_means_of_nothing_are_nan():
    empty = np.zeros((0, 2), np.float32)
    for name in ("mean", "var", "std"):
        assert np.isnan(run(lambda x, n=name: getattr(jnp, n)(x, 0), empty)[0]).all()
    assert np.isnan(run(jnp.nanmean, np.full(2, np.nan, np.float32))[0])
    assert np.isnan(run(jnp.nanmax, np.full(2, np.nan, np.float32))[0])


def test_narrow_floats_are_summed_up_in_float32():
    for dtype in ("bfloat16", "float16"):
        x = jnp.ones(4096, dtype)
        assert float(jnp.sum(x)) == 4096
        assert float(jnp.mean(x * 0.1)) == pytest.approx(0.1, rel=2e-3)
        assert float(jnp.cumsum(x)[-1]) == 4096
    x = jnp.full(100, 300.0, "float16")  # squares overflow float16
    assert float(jnp.var(x)) == 0
    assert float(jnp.mean(x)) == 300


def test_dtypes_of_results():
    x = np.arange(4, dtype=np.int8)
    assert jnp.sum(x, dtype="float32").dtype == np.float32
    assert jnp.mean(x, dtype="float16").dtype == np.float16
    assert jnp.cumsum(x, dtype=int).dtype == np.int32
    assert jnp.std(x, dtype=jnp.bfloat16).dtype == ml_dtypes.bfloat16


def test_ddof():
    x = numbers(SHAPE)
    for name in ("var", "std", "nanvar"):
        (result,) = run(lambda x, n=name: getattr(jnp, n)(x, axis=1, ddof=1), x)
        compare(result, expected_of(getattr(np, name), x, axis=1, ddof=1))
    compare(np.asarray(jnp.var(x, correction=2)), expected_of(np.var, x, ddof=2))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_places_of_extrema(name):
    for dtype in ALL:
        x = numbers(SHAPE, dtype, -2, 2)  # with ties, where the first one counts
        for axis in (None, 0, -1):
            for keepdims in (False, True):
                options = {"axis": axis, "keepdims": keepdims}
                (result,) = run(lambda x, o=options: getattr(jnp, name)(x, **o), x)
                expected = expected_of(getattr(np, name), x, **options)
                assert result.dtype == np.int32
                np.testing.assert_array_equal(result, expected)


def test_nan_is_an_extremum_and_an_extremum_of_nan_is_nan():
    x = np.array([[1, np.nan, 3], [np.inf, -np.inf, 2]], np.float32)
    for name in ("max", "min", "argmax", "argmin"):
        (result,) = run(lambda x, n=name: getattr(jnp, n)(x, axis=1), x)
        np.testing.assert_array_equal(result, getattr(np, name)(x, axis=1))


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_cumulative(name):
    for dtype in ALL:
        for n in (0, 1, 2, 5, 8):
            x = numbers((2, n), dtype, -2, 2)
            for axis in (None, 0, 1):
                (result,) = run(lambda x, a=axis: getattr(jnp, name)(x, axis=a), x)
                expected = expected_of(getattr(np, name), x, axis=axis)
                if x.dtype == np.uint8:
                    expected = expected.astype(np.uint8)  # NumPy widens, JAX does not
                compare(result, expected, extra=4)


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "nearest", "midpoint"])
def test_quantile(method):
    x = numbers((3, 6))
    for q in (0.0, 0.3, 0.5, 1.0, np.array([0.1, 0.9])):
        for axis in (None, 0, (0, 1)):
            for keepdims in (False, True):
                options = {"axis": axis, "keepdims": keepdims, "method": method}
                (result,) = run(lambda x, q=q, o=options: jnp.quantile(x, q, **o), x)
                compare(result, expected_of(np.quantile, x, q, **options))


def test_quantiles_below_0_and_above_1_are_the_least_and_the_greatest():
    q = np.array([-0.3, 1.4], np.float32)
    for f in (jnp.quantile, jnp.nanquantile):
        np.testing.assert_array_equal(f(np.array([2.0, 1.0, 5.0]), q), [1, 5])


def test_percentile_and_median_of_nan():
    x = numbers((9,))
    compare(run(lambda x: jnp.percentile(x, 30), x)[0], expected_of(np.percentile, x, 30))
    x[3] = np.nan
    assert np.isnan(jnp.median(x))
    x[3] = np.inf
    assert float(jnp.median(x)) == pytest.approx(float(np.median(x)))


def test_average():
    x = numbers((3, 4))
    for weights, axis in ((None, 0), (numbers((3, 4), low=1), None), (numbers((4,), low=1), 1)):
        (result,) = run(lambda x, w=weights, a=axis: jnp.average(x, a, w), x)
        compare(result, expected_of(np.average, x, axis, weights))
    result, total = jnp.average(x, 0, returned=True)
    np.testing.assert_array_equal(total, np.full(4, 3))


def test_interp():
    points, values = np.array([0.0, 1.0, 4.0]), np.array([5.0, 7.0, -1.0])
    x = np.array([-1.0, 0.0, 0.25, 1.0, 3.0, 4.0, 9.0])
    (result,) = run(jnp.interp, x, points, values)
    np.testing.assert_allclose(result, np.interp(x, points, values), rtol=1e-6)
    result = jnp.interp(x, points, values, left=-9, right=9)
    np.testing.assert_allclose(result, np.interp(x, points, values, -9, 9), rtol=1e-6)


def test_closeness():
    x = np.array([1.0, np.inf, np.nan, 1e-9, -np.inf, 100.0], np.float32)
    y = np.array([1.0 + 1e-6, np.inf, np.nan, 0.0, np.inf, 101.0], np.float32)
    for equal_nan in (False, True):
        (result,) = run(lambda x, y, e=equal_nan: jnp.isclose(x, y, equal_nan=e), x, y)
        np.testing.assert_array_equal(result, np.isclose(x, y, equal_nan=equal_nan))
        assert bool(jnp.array_equal(x, x, equal_nan)) == equal_nan
    assert not jnp.allclose(x, y)
    assert jnp.allclose(x[:1], y[:1])
    assert not jnp.array_equal(x, x[:2])
    assert jnp.array_equiv(np.ones((2, 3)), np.ones(3))
    assert not jnp.array_equiv(np.ones(2), np.ones(3))


# ---- derivatives ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x: jnp.sum(x, 0) ** 2,
        lambda x: jnp.prod(x, 1),
        lambda x: jnp.mean(x) ** 2,
        lambda x: jnp.var(x, 1),
        lambda x: jnp.std(x, 0),
        lambda x: jnp.max(x, 0),
        lambda x: jnp.cumsum(x, 1) ** 2,
        lambda x: jnp.cumprod(x, 1),
        lambda x: jnp.median(x, 1),
        lambda x: jnp.quantile(x, 0.3, 1),
        lambda x: jnp.sort(x, 1)[:, 0],
        lambda x: jnp.nanmean(x, 1),
    ],
)
def test_derivatives(function):
    with irax.enable_x64(True):
        check_grads(function, (jnp.asarray(numbers((3, 4), "float64")),), order=2)


@pytest.mark.parametrize(
    "function, x, expected",
    [
        (jnp.max, [1.0, 3.0, 3.0], [0, 0.5, 0.5]),
        (jnp.prod, [0.0, 2.0, 3.0], [6, 0, 0]),
        (jnp.prod, [0.0, 0.0, 3.0], [0, 0, 0]),
        (lambda x: jnp.cumprod(x)[2], [0.0, 2.0, 3.0], [6, 0, 0]),
        (jnp.nansum, [1.0, np.nan], [1, 0]),
        (lambda x: jnp.sum(x, where=x > 1), [1.0, 2.0], [0, 1]),
        (jnp.linalg.norm, [0.0, 0.0], [0, 0]),
        (jnp.linalg.norm, [3.0, 4.0], [0.6, 0.8]),
    ],
)
def test_derivatives_at_delicate_points(function, x, expected):
    np.testing.assert_allclose(irax.grad(function)(jnp.array(x)), expected, rtol=1e-6)


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: jnp.sum([1, 2]), TypeError, r"sum: a: .*\[1, 2\]"),
        (lambda: jnp.sum(jnp.ones(3), axis=1), ValueError, "sum: axis 1 is out of bounds"),
        (lambda: jnp.sum(jnp.ones(3), axis=(0, 0)), ValueError, "twice"),
        (lambda: jnp.sum(jnp.ones(3), axis=1.5), TypeError, "axis must be an int"),
        (lambda: jnp.sum(jnp.ones(3), out=jnp.ones(())), NotImplementedError, "'out'"),
        (lambda: jnp.max(jnp.zeros((0, 3)), axis=0), ValueError, "max: .*hold no elements"),
        (lambda: jnp.max(jnp.ones(3), where=True), ValueError, "initial"),
        (
            lambda: jnp.sum(jnp.ones(3), where=jnp.ones((2, 3), bool)),
            ValueError,
            r"where of shape \(2, 3\) does not broadcast",
        ),
        (lambda: jnp.max(jnp.ones(3), initial=0, where=jnp.ones(3)), ValueError, "be booleans"),
        (lambda: jnp.mean(jnp.ones(3), where=jnp.ones(3)), ValueError, "be booleans"),
        (lambda: jnp.nanvar(jnp.ones(3), where=jnp.ones(3)), ValueError, "be booleans"),
        (lambda: jnp.sum(jnp.ones(3), initial=jnp.ones(1)), ValueError, "be a scalar"),
        (lambda: jnp.var(jnp.ones(3), ddof=1, correction=1), ValueError, "give one"),
        (lambda: jnp.var(jnp.ones(3) * 1j, dtype="float32"), ValueError, "complex"),
        (lambda: jnp.cov(jnp.ones(3), dtype=int), ValueError, "dtype must be of floats"),
        (lambda: jnp.argmax(jnp.zeros((0,))), ValueError, "argmax: .*empty"),
        (lambda: jnp.quantile(jnp.ones(3), 0.5, method="x"), ValueError, "method"),
        (lambda: jnp.average(jnp.ones((2, 3)), weights=jnp.ones(2)), ValueError, "weights"),
        (lambda: jnp.interp(1.0, jnp.ones(2), jnp.ones(3)), ValueError, "one length"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("name", ["max", "min", "ptp"])
def test_complex_extrema_go_by_real_parts_then_imaginary_ones(name):
    z = np.array([[1 + 2j, 1 - 3j, -4 + 5j], [2j, -1j, 0]], np.complex64)
    for axis in (None, 0, 1):
        (result,) = run(lambda z, axis=axis: getattr(jnp, name)(z, axis=axis), z)
        np.testing.assert_array_equal(result, getattr(np, name)(z, axis=axis))


def test_complex_extrema_with_a_mask():
    z, mask = np.array([1 + 2j, 3 - 3j, 1 - 9j], np.complex64), np.array([True, False, True])
    begun = {"initial": -5 + 0j, "where": mask}
    (largest,) = run(lambda z: jnp.max(z, **begun), z)
    (smallest,) = run(lambda z: jnp.nanmin(z, initial=7, where=mask), z * np.nan)
    np.testing.assert_array_equal([largest, smallest], [np.max(z, **begun), 7])


def test_initial_has_the_dtype_of_the_elements():
    small = np.arange(3, dtype=np.int8)
    assert jnp.max(small, initial=2.5).dtype == np.int8
    assert jnp.max(small > 1, initial=0).dtype == np.bool
    assert jnp.min(np.uint32([7]), initial=1, where=np.array([False])) == 1
    assert jnp.sum(small > 0, promote_integers=False) == 2


def test_average_with_weights_of_some_axes():
    x = numbers((2, 3, 4), seed=1)
    for axes in [(1, 2), (2, 0), (2, 0, 1), (1,)]:
        w = numbers(tuple(x.shape[d] for d in axes), low=1.0, seed=2)
        expected = np.average(x, axes, w, returned=True)
        results = run(lambda x, w, axes=axes: jnp.average(x, axes, w, returned=True), x, w)
        for result, value in zip(results, expected, strict=True):
            np.testing.assert_allclose(result, value, rtol=1e-5)


@pytest.mark.parametrize("function", [jnp.var, jnp.std])
def test_spread_of_too_few_is_nan(function):
    for size, ddof in [(0, 0), (1, 1), (2, 5)]:
        assert np.isnan(run(lambda x, ddof=ddof: function(x, ddof=ddof), np.ones(size, "f"))[0])


def test_spread_in_complex_numbers():
    result = jnp.std(jnp.arange(3), dtype="complex64")
    assert result.dtype == np.complex64
    np.testing.assert_allclose(result, np.std(np.arange(3)), rtol=1e-6)
    assert jnp.var(jnp.arange(3) * 1j).dtype == np.float32


def test_derivatives_of_spreads_pass_nan_by():
    x = jnp.array([jnp.nan, 1, 2, 3, 4])
    slopes = irax.grad(jnp.nanvar)(x)
    np.testing.assert_allclose(slopes, [0, -0.75, -0.25, 0.25, 0.75], atol=1e-6)
    assert not jnp.isnan(irax.grad(jnp.nanstd)(x)).any()


def test_covariances_of_a_column_and_of_nothing():
    np.testing.assert_array_equal(
        jnp.cov(jnp.ones((1, 3)), rowvar=False, ddof=0), np.zeros((3, 3), "f")
    )
    assert np.isnan(jnp.cov(jnp.zeros(0)))


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cumulative_sum"])
def test_cumulative_truth(name):
    x = np.array([0.0, 2.0, 0.0], np.float32)
    (result,) = run(lambda x: getattr(jnp, name)(x, dtype=bool), x)
    np.testing.assert_array_equal(result, getattr(np, name)(x, dtype=bool))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rows, columns", [(2, 2), (7, 7), (9, 3)])
def test_reductions_of_what_turns_out_to_be_constant_have_all_terms(rows, columns):
    def sums(places):
        table = places[:, None] + jnp.arange(columns)
        equal = table == table
        twos = jnp.full((40, columns), 2.0)[places]
        return equal.sum(), equal.sum(1), twos.sum(1), twos[:, 0].mean(), twos[:, 0].prod()

    found = irax.jit(sums)(np.arange(rows))
    expected = rows * columns, np.full(rows, columns), np.full(rows, 2.0 * columns), 2.0, 2.0**rows
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(x, y)
