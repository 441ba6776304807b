"""Order and extremes of floats of 8 bits, of which most have no infinities, some no 0, and some a
nan with the bits of a negative zero. Expected values are NumPy's in float64.
"""

import ml_dtypes
import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

DTYPES = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"]
ENCODED = ["float8_e4m3b11fnuz", "float8_e4m3", "float8_e3m4", "float8_e8m0fnu"]
"""The dtypes that are bytes on the CPU, and float32 where it computes."""
DTYPES += ENCODED
ROWS = np.array([[2, np.nan, 4], [np.nan, 1, 0.5], [1, 2, 2]])


SLOW = [*ENCODED[:2], "float8_e4m3fnuz", "float8_e5m2fnuz"]
"""Dtypes that slow tests alone compile: their code is that of others."""
WAYS = [
    pytest.param(
        dtype,
        way,
        marks=pytest.mark.slow if way is irax.jit and dtype in SLOW else (),
        id=f"{dtype}-{'compiled' if way is irax.jit else 'evaluated'}",
    )
    for dtype in DTYPES
    for way in (lambda f: f, irax.jit)
]
ways = pytest.mark.parametrize("dtype, way", WAYS)
ordered_ways = pytest.mark.parametrize("dtype, way", [w for w in WAYS if "e8m0" not in w.values[0]])


@pytest.mark.sampled(4)
@ways
def test_reductions_without_nan(dtype, way):
    x = jnp.asarray(ROWS.astype(getattr(ml_dtypes, dtype)))
    names = ["nanmax", "nanmin", "nanargmax", "nanargmin", "nanprod"]
    results = way(lambda x: {name: getattr(jnp, name)(x, 1) for name in names})(x)
    for name, found in results.items():
        assert found.dtype == (x.dtype if "arg" not in name else np.int32)
        np.testing.assert_array_equal(
            np.asarray(found).astype(float), getattr(np, name)(ROWS, 1), name
        )


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


@pytest.mark.sampled(4)
@ordered_ways
def test_nan_comes_last(dtype, way):
    def orders(x):
        pair = jnp.sort(x), jnp.argsort(x), lax.sort((x, x))[1], jnp.sort(x, descending=True)
        return *pair, jnp.searchsorted(pair[0], x)

    numbers = {count: np.resize([2, np.nan, 4, -1, 0, 0.5], count) for count in (6, 40)}
    arrays = {n: jnp.asarray(x.astype(getattr(ml_dtypes, dtype))) for n, x in numbers.items()}
    found = way(lambda arrays: {n: orders(x) for n, x in arrays.items()})(arrays)
    for count, values in numbers.items():
        ascending, places, second, falling, found_at = map(np.asarray, found[count])
        order = np.argsort(values, kind="stable")
        np.testing.assert_array_equal(ascending.astype(float), values[order])
        np.testing.assert_array_equal(places, order)
        np.testing.assert_array_equal(second.astype(float), values[order])
        np.testing.assert_array_equal(falling.astype(float), values[order[::-1]])
        np.testing.assert_array_equal(found_at, np.searchsorted(values[order], values))


@ordered_ways
def test_windows(dtype, way):
    """NumPy makes views for its own numbers only, to which float8_e5m2 seems to belong."""

    def both(x, starts):
        windows = lax.reduce_window(x, -8.0, lax.max, (2,), (1,), "VALID")
        return windows, irax.vmap(lambda k: lax.dynamic_slice(x, (k,), (2,)))(starts)

    x = jnp.asarray(np.arange(6.0).astype(getattr(ml_dtypes, dtype)))
    windows, parts = way(both)(x, jnp.array([1, 3]))
    np.testing.assert_array_equal(np.asarray(windows).astype(float), [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(np.asarray(parts).astype(float), [[1, 2], [3, 4]])


def of_all_bytes(name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    count = 1 << ml_dtypes.finfo(dtype).bits
    return np.resize(np.arange(count, dtype=np.uint8), 256).view(dtype)


FUNCTIONS = {
    "sum": lambda x, y: x + y,
    "product": lambda x, y: x * y,
    "quotient": lambda x, y: x / y,
    "tanh": lambda x, y: jnp.tanh(x),
    "maximum": jnp.maximum,
    "order": lambda x, y: (x < y, x == y, jnp.isfinite(x)),
    "selected": lambda x, y: jnp.where(x < y, x, y),
    "sums": lambda x, y: x.reshape(-1, 8).sum(1),
    "largest": lambda x, y: (x.reshape(-1, 8).max(1), x.reshape(-1, 8).argmax(1)),
    "matrices": lambda x, y: x.reshape(16, 16) @ y.reshape(16, 16),
    "sorted": lambda x, y: (jnp.sort(x), jnp.argsort(x)),
    "scan": lambda x, y: lax.scan(lambda c, z: (c + z, c * z), x[3], y[:20]),
    "grad": lambda x, y: irax.grad(lambda x: (x * y).sum().astype(jnp.float32))(x),
    "places": lambda x, y: (x[jnp.array([3, 1, 200])], x.at[jnp.array([3, 1, 3])].add(y[:3])),
    "windows": lambda x, y: lax.reduce_window(x, x[3], lax.max, (2,), (1,), "VALID"),
    "moved": lambda x, y: jnp.concatenate([x[::-1], jnp.pad(y, 2), jnp.ones(3, x.dtype)]),
}


@pytest.mark.parametrize(
    "dtype",
    [
        *("float8_e3m4", "float4_e2m1fn"),
        *(
            pytest.param(n, marks=pytest.mark.slow)
            for n in [*ENCODED[:2], ENCODED[3], "float6_e3m2fn"]
        ),
    ],
)
def test_compiled_as_evaluated(dtype):
    """Bytes that moves keep, and float32 rounded once: what NumPy does with ml_dtypes."""
    x = jnp.asarray(of_all_bytes(dtype))
    y = jnp.roll(x, 77)[::-1]
    compiled = irax.jit(lambda x, y: {name: f(x, y) for name, f in FUNCTIONS.items()})(x, y)
    for name, function in FUNCTIONS.items():
        expected = irax.tree.leaves(function(x, y))
        for found, wanted in zip(irax.tree.leaves(compiled[name]), expected, strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(
                np.asarray(found).astype(float), np.asarray(wanted).astype(float), name
            )


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", [*ENCODED, "float4_e2m1fn", "float6_e3m2fn", "float6_e2m3fn"])
def test_rounding_of_compiled_conversions(dtype):
    """To all numbers, what is halfway between two, and what is next to that; and back."""
    own = getattr(ml_dtypes, dtype)
    count = 1 << ml_dtypes.finfo(own).bits
    numbers = np.arange(count, dtype=np.uint8).view(own)
    exact = np.sort(numbers.astype(np.float32))
    exact = exact[np.isfinite(exact)]
    halves = exact[1:] / 2 + exact[:-1] / 2
    beyond = np.array([np.inf, -np.inf, 3e38, -3e38, 0.0, -0.0, 1e-30], np.float32)
    near = [np.nextafter(halves, np.float32(side)) for side in (np.inf, -np.inf)]
    wide = np.concatenate([exact, halves, *near, beyond])
    found = np.asarray(irax.jit(lambda x: x.astype(own))(jnp.asarray(wide)))
    with np.errstate(invalid="ignore", over="ignore"):
        np.testing.assert_array_equal(found.view(np.uint8), wide.astype(own).view(np.uint8))
    back = irax.jit(lambda x: x.astype(jnp.float32))(jnp.asarray(numbers))
    np.testing.assert_array_equal(back, numbers.astype(np.float32))


def test_where_float32_is_subnormal():
    """The least scale, and float64 numbers that are halfway to the least normal bfloat16 number."""
    least = np.array([0, 0, 1], np.uint8).view(ml_dtypes.float8_e8m0fnu)
    found = irax.jit(lambda x, y: (x / y, jnp.sqrt(x), x * 2, jnp.minimum(x, y)))(
        least, least[::-1]
    )
    wanted = [
        [0.5, 1, 2],
        [2.0**-64, 2.0**-64, 2.0**-63],
        [2.0**-126, 2.0**-126, 2.0**-125],
        [2.0**-127] * 3,
    ]
    np.testing.assert_array_equal(np.asarray(found).astype(float), wanted)
    with irax.enable_x64(True):
        near = np.array([-1, 1]) * 2.0**-126 * (1 - 2.0**-9)
        rounded = irax.jit(lambda x: x.astype("bfloat16"))(near)
        np.testing.assert_array_equal(rounded.astype(float), np.sign(near) * 2.0**-126)


@pytest.mark.parametrize(
    "dtype",
    [
        *("float8_e4m3fn", "float4_e2m1fn"),
        *(pytest.param(d, marks=pytest.mark.slow) for d in [*DTYPES[1:], "float6_e2m3fn"]),
    ],
)
def test_neighbours_and_less_precision(dtype):
    own = getattr(ml_dtypes, dtype)
    numbers = np.arange(1 << ml_dtypes.finfo(own).bits, dtype=np.uint8).view(own)
    x, y = (v.ravel() for v in np.meshgrid(numbers, numbers[::11]))
    with np.errstate(invalid="ignore"):
        expected = np.where(x == y, y, np.nextafter(x, y)).astype(np.float32)
        wide = numbers.astype(np.float32)

    def both(x, y, z):
        return jnp.nextafter(x, y), lax.reduce_precision(z, 3, 1), lax.reduce_precision(z, 8, 0)

    of_float32 = [np.asarray(lax.reduce_precision(wide, *bits)) for bits in ((3, 1), (8, 0))]
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = [v.astype(own).astype(np.float32) for v in of_float32]
    for way in (lambda f: f, irax.jit):
        found = [np.asarray(v).astype(np.float32) for v in way(both)(x, y, numbers)]
        for value, reference in zip(found, [expected, *rounded], strict=True):
            np.testing.assert_array_equal(value, reference)
            signs = [np.signbit(v) & ~np.isnan(v) for v in (value, reference)]
            np.testing.assert_array_equal(*signs)


@pytest.mark.sampled(4)
@ways
def test_order_of_all_numbers(dtype, way):
    """`sort` puts nan last; `top_k` goes by IEEE 754's order, in which a nan has a sign."""
    own = np.dtype(getattr(ml_dtypes, dtype))
    x = np.random.default_rng(3).permutation(256).astype(np.uint8).view(own)
    numbers, is_nan = x.astype(float), np.isnan(x.astype(np.float32))
    signs = np.ones(256) if "e8m0" in dtype else np.where(x.view(np.int8) < 0, -1, 1)
    order = np.argsort(-np.where(is_nan, signs * 1e300, numbers), kind="stable")
    order = order[~is_nan[order]] if is_nan.sum() > 2 else order
    places = order[(numbers[order] != 0) | is_nan[order]]
    found = way(lambda x: (jnp.sort(x), lax.top_k(x, 256), jnp.argmax(x), x == x))(jnp.asarray(x))
    np.testing.assert_array_equal(np.asarray(found[0]).astype(float), np.sort(numbers))
    there = np.asarray(found[1][1])
    np.testing.assert_array_equal(there[np.isin(there, places)], places)
    assert int(found[2]) == np.flatnonzero(is_nan)[0]
    np.testing.assert_array_equal(found[3], ~is_nan)


@pytest.mark.parametrize("dtype", ["float4_e2m1fn", "float6_e2m3fn"])
def test_order_of_floats_of_few_bits(dtype):
    own = np.dtype(getattr(ml_dtypes, dtype))
    x = np.array([1, -2, 0.5, -0.5, 3, -1], own)
    np.testing.assert_array_equal(lax.top_k(jnp.asarray(x), 6)[1], [4, 0, 2, 3, 5, 1])


EVERY = [*DTYPES, "float4_e2m1fn"]


@pytest.mark.parametrize("dtype", EVERY)
def test_parts_of_every_number(dtype):
    """Floats of 4 bits do not begin with their sign, and powers of two have none; their largest
    number stands for infinity where a conversion saturates.
    """
    own = np.arange(16 if dtype == EVERY[-1] else 256, dtype=np.uint8)
    own = own.view(getattr(ml_dtypes, dtype))
    with np.errstate(all="ignore"):
        expected = np.spacing(own).astype(float)
    np.testing.assert_array_equal(np.asarray(jnp.spacing(own)).astype(float), expected)
    own = own[~np.isnan(own.astype(float))]
    numbers, x = own.astype(float), jnp.asarray(own)
    for name in ("signbit", "isinf", "isposinf", "isneginf", "isfinite"):
        np.testing.assert_array_equal(getattr(jnp, name)(x), getattr(np, name)(numbers), name)
    if dtype != "float8_e8m0fnu":
        found = [np.asarray(part).astype(float) for part in jnp.modf(x)]
        np.testing.assert_array_equal(found, np.modf(numbers))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "dtype", ["float8_e3m4", pytest.param("float8_e4m3", marks=pytest.mark.slow)]
)
def test_bits_of_constants(dtype):
    """Encoded constants are operands of bitcasts, which are replaced after them."""
    x = jnp.asarray(np.array([1.5, -2.25, -3], getattr(ml_dtypes, dtype)))
    np.testing.assert_array_equal(
        irax.jit(lambda x: jnp.modf(x)[0])(x).astype(float), [0.5, -0.25, 0]
    )


FORMULAS = ["floor_divide", "remainder", "hypot", "logaddexp", "logaddexp2"]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn"])
@pytest.mark.parametrize("way", [lambda f: f, irax.jit], ids=["evaluated", "compiled"])
def test_formulas_are_rounded_once(dtype, way):
    """As 1.375 // 0.1875 of float8_e4m3fn: 1.375 without its remainder has a digit more."""
    random = np.random.default_rng(0)
    scale = 10.0 ** random.integers(-2, 3, (2, 500))
    x, y = (random.normal(size=(2, 500)) * scale).astype(getattr(ml_dtypes, dtype, dtype))
    found = way(lambda x, y: [getattr(jnp, name)(x, y) for name in FORMULAS])(x, y)
    with np.errstate(all="ignore"):
        for name, result in zip(FORMULAS, found, strict=True):
            exact = getattr(np, name)(x.astype(float), y.astype(float)).astype(x.dtype)
            np.testing.assert_array_equal(
                np.asarray(result).astype(float), exact.astype(float), name
            )


@pytest.mark.parametrize("way", [lambda f: f, irax.jit], ids=["evaluated", "compiled"])
def test_bits_of_floats_of_four(way):
    """Views have the same bits, compiled too, where integers were made of the numbers."""
    codes = np.arange(16, dtype=np.uint8)
    numbers, integers = codes.view(ml_dtypes.float4_e2m1fn), codes.astype(ml_dtypes.uint4)

    def views(x, i, j):
        return x.view("uint4"), x.view("int4"), i.view(x.dtype), j.view(x.dtype)

    signed = ((codes ^ 8).astype(np.int8) - 8).astype(ml_dtypes.int4)
    found = way(views)(*map(jnp.asarray, (numbers, integers, signed)))
    for result, expected in zip(found, (integers, signed, numbers, numbers), strict=True):
        assert result.dtype == expected.dtype
        result, expected = np.asarray(result).astype(float), expected.astype(float)
        np.testing.assert_array_equal(result, expected)
        np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))


@pytest.mark.parametrize("way", [lambda f: f, irax.jit], ids=["evaluated", "compiled"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sinc_is_rounded_once(dtype, way):
    x = np.linspace(-3, 3, 501).astype(jnp.dtype(dtype))
    expected = np.where((x == np.rint(x)) & (x != 0), 0, np.sinc(x.astype(float)))
    found = np.asarray(way(jnp.sinc)(jnp.asarray(x))).astype(float)
    within = 0.51 * float(jnp.finfo(dtype).eps) * np.abs(expected)
    assert (np.abs(found - expected) <= within + float(jnp.finfo(dtype).tiny)).all()
