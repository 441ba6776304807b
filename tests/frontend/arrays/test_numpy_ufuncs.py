"""The elementwise functions against NumPy, and their derivatives."""

import ml_dtypes
import numpy as np
import pytest
from tests.frontend.numpy_helpers import numbers, run, tolerance

import irax
import irax.numpy as jnp

FLOATS = ("float32", "float16", ml_dtypes.bfloat16)
INTEGERS = ("int32", "uint8", "int8")
ALL = ("bool", *INTEGERS, *FLOATS)
NUMBERS = (*INTEGERS, *FLOATS)


def check(name, operands, **tolerances):
    """Compares with NumPy, which computes in float64 what it gives as a float."""
    (result,) = run(getattr(jnp, name), *operands)
    wide = [
        x.astype(np.float64) if x.dtype.kind in "fV" or result.dtype.kind in "fV" else x
        for x in map(np.asarray, operands)
    ]
    with np.errstate(all="ignore"):
        expected = np.asarray(getattr(np, name)(*wide))
    assert result.shape == expected.shape
    tolerances = tolerance(result.dtype) | tolerances
    if result.dtype.kind in "iub":
        np.testing.assert_array_equal(result.astype(int), expected.astype(result.dtype).astype(int))
    else:
        np.testing.assert_allclose(result.astype(np.float64), expected, **tolerances)


UNARY = {
    "abs": (ALL, -4, 4),
    "fabs": (ALL, -4, 4),
    "negative": (NUMBERS, -4, 4),
    "positive": (NUMBERS, -4, 4),
    "sign": (NUMBERS, -4, 4),
    "square": (NUMBERS, -4, 4),
    "reciprocal": (FLOATS, 1, 4),
    "exp": (ALL, -4, 4),
    "expm1": (ALL, -4, 4),
    "exp2": (ALL, -4, 4),
    "log": (ALL, 0.5, 4),
    "log1p": (ALL, -0.5, 4),
    "log2": (ALL, 0.5, 4),
    "log10": (ALL, 0.5, 4),
    "sqrt": (ALL, 0, 4),
    "cbrt": (ALL, -4, 4),
    "sin": (ALL, -4, 4),
    "cos": (ALL, -4, 4),
    "tan": (ALL, -1, 1),
    "sinh": (ALL, -4, 4),
    "cosh": (ALL, -4, 4),
    "tanh": (ALL, -4, 4),
    "arcsin": (ALL, -1, 1),
    "arccos": (ALL, -0.9, 0.9),
    "arctan": (ALL, -4, 4),
    "arcsinh": (ALL, -4, 4),
    "arccosh": (NUMBERS, 1.5, 4),
    "arctanh": (FLOATS, -0.9, 0.9),
    "deg2rad": (FLOATS, -4, 4),
    "rad2deg": (FLOATS, -4, 4),
    "sinc": (FLOATS, -1, 1),
    "floor": (ALL, -4, 4),
    "ceil": (ALL, -4, 4),
    "trunc": (ALL, -4, 4),
    "rint": (NUMBERS, -4, 4),
    "round": (NUMBERS, -4, 4),
    "isnan": (ALL, -4, 4),
    "isinf": (ALL, -4, 4),
    "isfinite": (ALL, -4, 4),
    "signbit": (FLOATS, -4, 4),
    "logical_not": (ALL, -1, 1),
    "invert": (("bool", *INTEGERS), -4, 4),
    "bitwise_count": (INTEGERS, -4, 4),
    "nan_to_num": (FLOATS, -4, 4),
    "real": (ALL, -4, 4),
    "imag": (ALL, -4, 4),
    "conjugate": (NUMBERS, -4, 4),
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    dtypes, low, high = UNARY[name]
    for dtype in dtypes:
        for shape in ((), (3,), (2, 0)):
            check(name, [numbers(shape, dtype, low, high)])


BINARY = {
    "add": ALL,
    "subtract": NUMBERS,
    "multiply": ALL,
    "divide": ALL,
    "floor_divide": NUMBERS,
    "remainder": NUMBERS,
    "fmod": NUMBERS,
    "power": NUMBERS,
    "float_power": NUMBERS,
    "maximum": ALL,
    "minimum": ALL,
    "fmax": ALL,
    "fmin": ALL,
    "arctan2": FLOATS,
    "hypot": FLOATS,
    "logaddexp": FLOATS,
    "logaddexp2": FLOATS,
    "copysign": FLOATS,
    "heaviside": FLOATS,
    "equal": ALL,
    "not_equal": ALL,
    "less": ALL,
    "less_equal": ALL,
    "greater": ALL,
    "greater_equal": ALL,
    "logical_and": ALL,
    "logical_or": ALL,
    "logical_xor": ALL,
    "bitwise_and": ("bool", *INTEGERS),
    "bitwise_or": ("bool", *INTEGERS),
    "bitwise_xor": ("bool", *INTEGERS),
    "left_shift": INTEGERS,
    "right_shift": INTEGERS,
}
POSITIVE_SECOND = {"power", "float_power", "left_shift", "right_shift"}
POSITIVE_FIRST = {"power", "float_power"}
NOT_ZERO_SECOND = {"divide", "floor_divide", "remainder", "fmod"}


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    for dtype in BINARY[name]:
        for left, right in (((), ()), ((2, 3), (3,)), ((2, 1), (1, 3)), ((0, 2), (2,))):
            x = numbers(left, dtype, 0.5 if name in POSITIVE_FIRST else -4, 4, seed=1)
            y = numbers(right, dtype, 0.5 if name in POSITIVE_SECOND else -4, 4, seed=2)
            if name in NOT_ZERO_SECOND:
                y = np.where(y == 0, np.ones_like(y), y)
            # Powers of e and the like grow with the number they are of.
            wide = {"rtol": 1e-5} if "power" in name and x.dtype == np.float32 else {}
            if name in ("float_power", "power") and x.dtype.kind in "iu":
                wide = {"rtol": 1e-5}
            check(name, [x, y], **wide)


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan, 1e30], np.float32)


@pytest.mark.parametrize(
    "name",
    ["maximum", "minimum", "fmax", "fmin", "hypot", "logaddexp", "copysign", "heaviside", "equal"]
    + ["less", "logical_and", "add", "remainder", "fmod"],
)
def test_special_values_of_two(name):
    x, y = np.meshgrid(SPECIAL, SPECIAL)
    if name in ("remainder", "fmod"):  # what NumPy gives for infinities has no agreed meaning
        x, y = (v[np.isfinite(x) & np.isfinite(y) & (np.abs(x) < 9) & (y != 0)] for v in (x, y))
    check(name, [x, y])


@pytest.mark.parametrize(
    "name",
    ["abs", "sign", "exp", "log", "sqrt", "tanh", "floor", "trunc", "rint", "isnan", "isinf"]
    + ["isfinite", "isposinf", "isneginf", "signbit", "cbrt", "log1p", "reciprocal"],
)
def test_special_values_of_one(name):
    check(name, [SPECIAL])


def test_nan_to_num():
    (result,) = run(jnp.nan_to_num, SPECIAL)
    np.testing.assert_array_equal(result, np.nan_to_num(SPECIAL))
    (result,) = run(lambda x: jnp.nan_to_num(x, nan=7.0, posinf=8.0, neginf=9), SPECIAL)
    np.testing.assert_array_equal(result, np.nan_to_num(SPECIAL, nan=7.0, posinf=8.0, neginf=9))


def test_divmod():
    for dtype in ("int32", "float32"):
        x, y = numbers((9,), dtype, -9, 9), np.where(numbers((9,), dtype, 1, 3, seed=3) > 2, -2, 3)
        y = y.astype(dtype)
        for result, expected in zip(run(jnp.divmod, x, y), np.divmod(x, y), strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)


def test_power_of_a_python_int():
    for dtype in ("int32", "float32"):
        x = numbers((5,), dtype)
        for exponent in (0, 1, 2, 3, 7):
            (result,) = run(lambda x, n=exponent: jnp.power(x, n), x)
            assert result.dtype == dtype
            np.testing.assert_allclose(result, x**exponent, rtol=1e-5)
    (result,) = run(lambda x: jnp.power(x, -2), np.array([2.0, 4.0], np.float32))
    np.testing.assert_allclose(result, [0.25, 0.0625])
    with pytest.raises(TypeError, match="negative powers"):
        jnp.power(jnp.arange(3), -1)


def test_square_roots_as_powers_of_zeros_and_infinities():
    """As C's pow has them: NumPy takes the square root, of which that of -0 is -0, of -inf nan."""
    x = np.array([-np.inf, -0.0, 0.0, np.inf], np.float32)
    for dtype in ("float32", "float64", "bfloat16"):
        for exponent in (0.5, np.float32([0.5] * 4), np.float32([0.5])):
            for result in run(lambda x, y=exponent: jnp.power(x, y), x.astype(dtype)):
                np.testing.assert_array_equal(result, [np.inf, 0, 0, np.inf])
                assert not np.signbit(result).any()


@pytest.mark.parametrize("exponent", [-2.0, -1.5, -0.5, 1.5, 2.5])
def test_powers_of_a_few_products_and_a_root(exponent):
    """Large and small numbers are among them, whose squares and cubes are not numbers. Compiled
    powers are rounded once.
    """
    special = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan])
    limits = np.finfo(np.float32)
    most = np.array([limits.max, -limits.max, limits.tiny, -limits.tiny])
    spread = 10.0 ** np.linspace(-12, 12, 999)
    x = np.concatenate([special, most, spread, -spread]).astype(np.float32)
    with np.errstate(all="ignore"):
        expected = (x.astype(np.float64) ** exponent).astype(np.float32)
    expected[abs(expected) < limits.tiny] *= 0  # the processor does so

    def function(x):
        return jnp.power(x, exponent)

    for computed, error in ((function, 2e-7), (irax.jit(function), 6e-8)):
        result = np.array(computed(x))
        result[abs(result) < limits.tiny] *= 0
        is_number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.isnan(result), ~is_number)
        np.testing.assert_allclose(result, expected, rtol=error)
        np.testing.assert_array_equal(
            np.signbit(result[is_number]), np.signbit(expected[is_number])
        )


def test_integer_power_is_multiplications_and_differentiable_at_zero():
    text = str(irax.make_ir(lambda x: jnp.power(x, 3))(1.0))
    assert text.count("stablehlo.multiply") == 2
    assert "power" not in text
    assert [float(irax.grad(lambda x, n=n: x**n)(0.0)) for n in (1, 2, 3)] == [1, 0, 0]
    assert float(irax.grad(irax.grad(lambda x: x**2))(0.0)) == 2


def test_round_to_decimals():
    x = np.array([1.25, -2.345, 17.0], np.float32)
    for decimals in (0, 1, 2, -1):
        (result,) = run(lambda x, d=decimals: jnp.round(x, d), x)
        np.testing.assert_allclose(result, np.round(x, decimals), rtol=1e-6)
    with pytest.raises(NotImplementedError, match="decimals"):
        jnp.round(jnp.arange(3), -1)


def test_clip():
    x = numbers((6,))
    np.testing.assert_array_equal(run(lambda x: jnp.clip(x, -1, 1), x)[0], np.clip(x, -1, 1))
    with pytest.warns(DeprecationWarning, match="a_min= and a_max= are now"):
        np.testing.assert_array_equal(jnp.clip(x, a_min=0.5), np.clip(x, 0.5, None))
    np.testing.assert_array_equal(jnp.clip(x, max=x[::-1]), np.minimum(x, x[::-1]))


def test_where():
    condition = np.array([True, False, True])
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    (result,) = run(lambda c, x: jnp.where(c, x, -1), condition, x)
    np.testing.assert_array_equal(result, np.where(condition, x, -1))
    (result,) = run(lambda c: jnp.where(c, 1, 2.5), condition)
    np.testing.assert_array_equal(result, np.where(condition, 1, 2.5))
    (result,) = run(lambda x: jnp.where(x - 1, x, 0), x)  # numbers hold where they are not 0
    np.testing.assert_array_equal(result, np.where(x - 1, x, 0))
    (result,) = run(lambda p, x: jnp.where(p, x, 0), np.True_, x)
    np.testing.assert_array_equal(result, x)
    np.testing.assert_array_equal(jnp.where(condition)[0], [0, 2])
    with pytest.raises(TypeError, match="both x and y"):
        jnp.where(condition, x)


def test_select():
    x = np.arange(6)
    for conditions in ([x < 2, x > 3], [x < 4, x < 2]):
        (result,) = run(lambda *c: jnp.select(c, [x, 1.5 * x], -1), *conditions)
        np.testing.assert_array_equal(result, np.select(conditions, [x, 1.5 * x], -1))
    with pytest.raises(ValueError, match="a choice for each condition"):
        jnp.select([x > 1], [x, x])


def test_polyval():
    p, x = numbers((4,)), numbers((2, 3))
    np.testing.assert_allclose(run(jnp.polyval, p, x)[0], np.polyval(p, x), rtol=1e-4, atol=1e-4)
    with irax.enable_x64(True):
        assert float(irax.grad(jnp.polyval, 1)(np.array([3.0, 2.0, 1.0]), 2.0)) == 14


def test_kinds():
    assert jnp.isscalar(3)
    assert jnp.isscalar(jnp.ones(()))
    assert not jnp.isscalar(jnp.ones(1))
    assert jnp.isscalar("a")  # as for NumPy
    assert jnp.isrealobj(jnp.ones(1))
    assert jnp.iscomplexobj(1j)


# ---- derivatives ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function, at, expected",
    [
        (lambda x: jnp.maximum(x, 1.0), 1.0, 0.5),
        (lambda x: jnp.clip(x, 0.0, 1.0), 2.0, 0.0),
        (lambda x: jnp.where(x > 0, x, 0.0), 0.0, 0.0),
        (lambda x: jnp.power(x, 2.0), 0.0, 0.0),
        (lambda x: jnp.power(0.0, x), 2.0, 0.0),
        (lambda x: jnp.logaddexp(x, -np.inf), 0.5, 1.0),
        (lambda x: jnp.logaddexp(x, x), 3.0, 1.0),
        (lambda x: jnp.logaddexp(x, 0.0), 0.0, 0.5),
        (lambda x: jnp.logaddexp(x, 0.0), -200.0, 0.0),
        (lambda x: jnp.logaddexp(x, 0.0), 200.0, 1.0),
        (lambda x: jnp.hypot(x, 4.0), 3.0, 0.6),
        (lambda x: jnp.sinc(x), 0.0, 0.0),
        (lambda x: jnp.sinc(x), np.inf, 0.0),
        (irax.grad(lambda x: jnp.sinc(x)), 0.0, -(np.pi**2) / 3),
        (lambda x: jnp.abs(x), 0.0, 1.0),
        (lambda x: jnp.arctan2(x, 2.0), 0.0, 0.5),
        (lambda x: jnp.remainder(x, 3.0), 7.0, 1.0),
        (lambda x: jnp.remainder(7.0, x), 3.0, -2.0),
        (lambda x: jnp.exp2(x), 3.0, 8 * np.log(2)),
        (lambda x: jnp.fmax(x, np.nan), 3.0, 1.0),
        (lambda x: jnp.reciprocal(x), 2.0, -0.25),
    ],
)
def test_derivatives_at_delicate_points(function, at, expected):
    derivative = float(irax.grad(function)(float(at)))
    if at == -np.inf:
        assert derivative == expected or np.isnan(derivative)
    else:
        assert derivative == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_the_limits_of_sinc():
    for dtype in (np.float16, np.float32, np.complex64):
        x = np.array([-np.inf, np.inf], dtype)
        for function in (jnp.sinc, irax.jit(jnp.sinc)):
            found = function(x)
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, [0, 0])


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: jnp.add([1], 2), TypeError, r"add: x1: .*\[1\]"),
        (lambda: jnp.sin("x"), TypeError, "sin: x: "),
        (lambda: jnp.add(jnp.ones(3), jnp.ones(4)), TypeError, r"add: shapes \(3,\) and \(4,\)"),
        (lambda: jnp.negative(True), TypeError, "negative: expected arrays of numbers, got bool"),
        (lambda: jnp.subtract(True, False), TypeError, "subtract: .*bool"),
        (lambda: jnp.bitwise_and(1.0, 2), TypeError, "bitwise_and: .*integers, got float32"),
        (lambda: jnp.left_shift(jnp.ones(2), 1), TypeError, "left_shift"),
        (lambda: jnp.round(1.0, out=jnp.ones(())), NotImplementedError, "'out'"),
        (lambda: jnp.where(jnp.ones(2), jnp.ones(3), 0), ValueError, "where: shapes"),
    ],
)
def test_errors_name_the_function(call, error, text):
    with pytest.raises(error, match=text):
        call()
    with pytest.raises(error, match=text):
        irax.make_ir(lambda x: (call(), x))(1.0)


@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal"])
def test_complex_numbers_are_ordered_by_their_parts(name):
    z = np.array([1 + 2j, 1 + 2j, 1 - 2j, np.nan + 1j], np.complex64)
    w = np.array([1 + 2j, 1 + 3j, -1 + 9j, 1j], np.complex64)
    with np.errstate(invalid="ignore"):
        expected = [getattr(np, name)(z, w), getattr(np, name)(z, 1.0)]
    results = run(lambda z, w: [getattr(jnp, name)(z, w), getattr(jnp, name)(z, 1.0)], z, w)
    np.testing.assert_array_equal(results, expected)


def test_logaddexp_of_complex_numbers():
    rng = np.random.default_rng(0)
    z, w = (rng.uniform(-5, 5, 50) + 1j * rng.uniform(-5, 5, 50) for _ in range(2))
    z, w = z.astype(np.complex64), w.astype(np.complex64)
    (result,) = run(jnp.logaddexp, z, w)
    wide = np.log(np.exp(z.astype("c16")) + np.exp(w.astype("c16")))
    np.testing.assert_allclose(result, wide, rtol=1e-4, atol=1e-5)
    (result,) = run(jnp.logaddexp, z + 200, w + 200)
    np.testing.assert_allclose(result, wide + 200, rtol=1e-4)
    with pytest.raises(ValueError, match="hypot"):
        jnp.hypot(z, w)


@pytest.mark.parametrize("function", [jnp.floor, jnp.ceil, jnp.trunc])
def test_complex_numbers_are_not_rounded_to_one_side(function):
    z = np.array([1.5 + 2.5j])
    for called in (function, irax.jit(function)):
        with pytest.raises(TypeError, match="expected real numbers, got complex"):
            called(z)


@pytest.mark.parametrize("kind", [np.int64, np.array, jnp.array])
def test_known_integers_are_exponents_as_python_numbers_are(kind):
    x = jnp.array([2, 3], "int8")
    for _ in range(30):  # many calls of one kind are no other ones
        assert jnp.power(x, kind(3)).dtype == np.int8
    np.testing.assert_array_equal(x ** kind(3), [8, 27])
    with pytest.raises(TypeError, match="negative powers"):
        jnp.power(x, kind(-1))


def test_integers_and_scalars_become_the_default_float():
    with irax.enable_x64(True):
        assert jnp.rint(jnp.array([1], "uint8")).dtype == np.float64
        assert jnp.angle(jnp.array([1], "int32")).dtype == np.float64
        assert jnp.angle(jnp.float32(-1)).dtype == np.float64
        assert jnp.angle(jnp.array([-1], "float32")).dtype == np.float32


@pytest.mark.parametrize(
    "name", ["hypot", "logaddexp", "logaddexp2", "arctan2", "copysign", "nextafter", "heaviside"]
)
@pytest.mark.parametrize("number", [-1, 300])
def test_numbers_become_floats_before_they_would_become_small_integers(name, number):
    x = np.array([3, 0], "uint8")
    expected = getattr(np, name)(np.float32(number), x.astype("float32"))
    np.testing.assert_allclose(getattr(jnp, name)(number, x), expected, rtol=1e-6)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_zeros_have_the_signs_of_numpys(name):
    some = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 5.5, np.inf, -np.inf]
    for dtype in (np.float32, np.float16):
        x, y = (v.ravel().astype(dtype) for v in np.meshgrid(some, some))
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(x, y)
        for found in (getattr(jnp, name)(x, y), irax.jit(getattr(jnp, name))(x, y)):
            np.testing.assert_array_equal(found, expected)
            is_zero = expected == 0
            np.testing.assert_array_equal(np.signbit(found)[is_zero], np.signbit(expected)[is_zero])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool"])
def test_remainders_of_divisions_by_zero_are_zero(dtype):
    x, y = np.array([5, 0, 1], dtype), np.array([0, 0, 1], dtype)
    for name in ("fmod", "remainder"):
        for function in (getattr(jnp, name), irax.jit(getattr(jnp, name))):
            np.testing.assert_array_equal(function(x, y), [0, 0, 0])


def test_that_a_quotient_by_zero_adds_nothing_to_a_derivative():
    def chosen(x, y):
        return jnp.where(y == 0, x, x // y).sum()

    found = irax.grad(chosen, (0, 1))(jnp.array([3.0, 0.0, -1.0]), jnp.array([0.0, 0.0, 2.0]))
    np.testing.assert_array_equal(found, [[1, 1, 0], [0, 0, 0]])


@pytest.mark.parametrize("divide", [jnp.divide, irax.jit(jnp.divide)], ids=["eager", "jit"])
def test_quotients_of_infinite_complex_numbers(divide):
    """C's limits, annex G of its standard, and XLA's: NumPy has nan."""
    inf, nan = np.inf, np.nan
    x = np.array([1, 2 + 1j, 1j, complex(inf, inf), complex(-inf, 1), 1, complex(inf, nan)])
    y = np.array([complex(inf, nan), complex(inf, inf), complex(-inf, nan), 1, 1j, 0.5, inf])
    found = np.asarray(divide(x.astype(np.complex64), y.astype(np.complex64)))
    expected = [0, 0, 0, complex(inf, inf), complex(nan, inf), 2, complex(nan, nan)]
    np.testing.assert_array_equal(found.real, np.real(expected))
    np.testing.assert_array_equal(found.imag, np.imag(expected))
