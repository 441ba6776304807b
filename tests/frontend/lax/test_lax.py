"""irax.lax: what is strict about it, and its functions against NumPy or JAX."""

import functools
import itertools
import math

import numpy as np
import pytest
from tests.frontend.numpy_helpers import numbers, run

import irax
import irax.numpy as jnp
from irax import lax
from irax.test_util import check_grads

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
ONES = jnp.ones(3)

# ---- elementwise ---------------------------------------------------------------------------------

UNARY = {
    "neg": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "square": np.square,
    "reciprocal": np.reciprocal,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": lambda x: np.arccosh(x),
    "atanh": np.arctanh,
    "erf": np.vectorize(math.erf),
    "erfc": np.vectorize(math.erfc),
    "lgamma": np.vectorize(math.lgamma),
    "is_finite": np.isfinite,
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    low, high = (1.1, 3) if name == "acosh" else (0.1, 0.9)
    x = numbers((2, 3), low=low, high=high)
    (result,) = run(getattr(lax, name), x)
    np.testing.assert_allclose(result, UNARY[name](x.astype(float)), rtol=1e-5)


def test_unary_functions_that_undo_or_derive_others():
    x = numbers((5,), low=-0.9, high=0.9)
    np.testing.assert_allclose(lax.erf(lax.erf_inv(x)), x, rtol=1e-5)
    slope = irax.vmap(irax.grad(lax.lgamma))(jnp.abs(x) + 1)
    np.testing.assert_allclose(lax.digamma(jnp.abs(x) + 1), slope, rtol=1e-5)
    np.testing.assert_allclose(lax.polygamma(jnp.zeros(5), jnp.abs(x) + 1), slope, rtol=1e-4)


BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "rem": np.fmod,
    "max": np.maximum,
    "min": np.minimum,
    "pow": np.power,
    "atan2": np.arctan2,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    x, y = numbers((2, 3), low=0.5, seed=1), numbers((2, 3), low=0.5, seed=2)
    for right in (y, y[0, 0]):
        (result,) = run(getattr(lax, name), x, right)
        np.testing.assert_allclose(result, BINARY[name](x, right), rtol=1e-5, atol=1e-6)


def test_integers():
    x = np.array([-7, 7, -1, 0, 100], np.int32)
    y = np.array([2, -2, 3, 5, 7], np.int32)
    np.testing.assert_array_equal(run(lax.div, x, y)[0], [-3, -3, 0, 0, 14])  # rounded to zero
    np.testing.assert_array_equal(run(lax.rem, x, y)[0], np.fmod(x, y))
    np.testing.assert_array_equal(run(lax.bitwise_and, x, y)[0], x & y)
    np.testing.assert_array_equal(run(lax.bitwise_or, x, y)[0], x | y)
    np.testing.assert_array_equal(run(lax.bitwise_xor, x, y)[0], x ^ y)
    np.testing.assert_array_equal(run(lax.bitwise_not, x)[0], ~x)
    np.testing.assert_array_equal(run(lax.shift_left, x, np.int32(3))[0], x << 3)
    np.testing.assert_array_equal(run(lax.shift_right_arithmetic, x, np.int32(1))[0], x >> 1)
    logical = (x.view(np.uint32) >> 1).view(np.int32)
    np.testing.assert_array_equal(run(lax.shift_right_logical, x, np.int32(1))[0], logical)
    bits = [bin(v)[2:].zfill(32) for v in x.view(np.uint32).tolist()]
    np.testing.assert_array_equal(run(lax.population_count, x)[0], [b.count("1") for b in bits])
    np.testing.assert_array_equal(run(lax.clz, x)[0], [(b + "1").index("1") for b in bits])
    np.testing.assert_array_equal(lax.sign(jnp.array([0, 9], "uint8")), [0, 1])


def test_powers():
    x = numbers((4,), low=0.5)
    for n in (-3, -1, 0, 1, 2, 5, 10):
        np.testing.assert_allclose(run(lambda x, n=n: lax.integer_pow(x, n), x)[0], x**n, rtol=1e-5)
    np.testing.assert_array_equal(lax.integer_pow(jnp.arange(4), 3), [0, 1, 8, 27])
    np.testing.assert_allclose(lax.pow(x, np.full(4, 2)), x**2, rtol=1e-6)


def test_round():
    x = np.array([0.5, 1.5, -0.5, 2.4, -2.6], np.float32)
    np.testing.assert_array_equal(run(lax.round, x)[0], [1, 2, -1, 2, -3])
    even = lax.RoundingMethod.TO_NEAREST_EVEN
    np.testing.assert_array_equal(run(lambda x: lax.round(x, even), x)[0], [0, 2, 0, 2, -3])


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: lax.add(ONES, jnp.ones(4)), r"lax.add: got shapes \(3,\) and \(4,\)"),
        (lambda: lax.add(ONES, jnp.ones((1, 3))), r"lax.add: got shapes"),
        (lambda: lax.add(ONES, jnp.arange(3)), "lax.add: got dtypes float32 and int32"),
        (lambda: lax.add(ONES, 1), "lax.add: got dtypes"),
        (lambda: lax.add(jnp.arange(3), 1.0), "lax.add: got dtypes"),
        (lambda: lax.add(True, False), "lax.add: expected arrays of numbers, got bool"),
        (lambda: lax.add([1.0], 2.0), r"lax.add: x: .*\[1.0\]"),
        (lambda: lax.sin(jnp.arange(3)), "lax.sin: expected arrays of floats or complex"),
        (lambda: lax.bitwise_and(ONES, ONES), "lax.bitwise_and: expected arrays of booleans or"),
        (lambda: lax.integer_pow(jnp.arange(3), -1), "negative powers"),
        (lambda: lax.neg(True), "lax.neg"),
        (lambda: lax.rem(1j * ONES, 1j * ONES), "lax.rem: expected arrays of integers or floats"),
        (lambda: lax.abs(jnp.ones(2, "uint8")), "signed integers"),
    ],
)
def test_operands_must_go_together(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_python_numbers_take_the_dtype_of_their_kind():
    assert lax.add(jnp.ones(3, "float16"), 1.0).dtype == np.float16
    assert lax.mul(2, jnp.ones(3, "uint8")).dtype == np.uint8
    assert lax.sub(jnp.ones(3, "bfloat16"), 1.0).dtype == jnp.bfloat16
    assert lax.pad(jnp.ones(3, "uint8"), 0, [(1, 0, 0)]).dtype == np.uint8
    assert lax.add(1, 2).weak_type


# ---- structure -----------------------------------------------------------------------------------


def check(results, expected):
    (result,) = results
    expected = np.asarray(expected)
    assert result.shape == expected.shape
    np.testing.assert_array_equal(result, expected)


def test_structure():
    check(run(lambda x: lax.broadcast(x, (2,)), X), np.broadcast_to(X, (2, 2, 3, 4)))
    check(
        run(lambda x: lax.broadcast_in_dim(x, (2, 3), (0,)), X[:, 0, 0]), X[:, :1, 0].repeat(3, 1)
    )
    check(run(lambda x: lax.reshape(x, (4, 6)), X), X.reshape(4, 6))
    check(run(lambda x: lax.reshape(x, (4, 6), (2, 0, 1)), X), X.transpose(2, 0, 1).reshape(4, 6))
    check(run(lambda x: lax.transpose(x, (2, 0, 1)), X), X.transpose(2, 0, 1))
    check(run(lambda x: lax.rev(x, (0, 2)), X), X[::-1, :, ::-1])
    check(run(lambda x: lax.expand_dims(x, (0, -1)), X), X[None, ..., None])
    check(run(lambda x: lax.squeeze(x, (1,)), X[:, :1]), X[:, 0])
    check(run(lambda x: lax.collapse(x, 1), X), X.reshape(2, 12))
    check(run(lambda x: lax.collapse(x, 0, 2), X), X.reshape(6, 4))
    check(
        run(lambda x, y: lax.concatenate([x, y], 1), X, X[:, :1]), np.concatenate([X, X[:, :1]], 1)
    )
    check(run(lambda x: lax.full((2,), x), np.float32(3)), [3.0, 3.0])
    check([lax.iota("float32", 3)], [0, 1, 2])
    check([lax.broadcasted_iota(int, (2, 3), 1)], [[0, 1, 2]] * 2)
    check(run(lambda x: lax.convert_element_type(x, "int32"), X), X.astype(int))


@pytest.mark.parametrize("config", [(1, 2, 0), (0, 0, 2), (-1, 1, 1), (2, -1, 0), (0, -2, 0)])
def test_pad(config):
    x = np.arange(1, 4, dtype=np.float32)
    low, high, interior = config
    spread = np.full(3 + 2 * interior, 9.0)
    spread[:: interior + 1] = x
    expected = np.pad(spread, (max(low, 0), max(high, 0)), constant_values=9)
    expected = expected[max(-low, 0) : len(expected) - max(-high, 0)]
    check(run(lambda x: lax.pad(x, 9.0, [config]), x), expected)


def test_slices():
    check(run(lambda x: lax.slice(x, (0, 1, 0), (2, 3, 4), (1, 1, 2)), X), X[:, 1:3, ::2])
    check(run(lambda x: lax.slice_in_dim(x, 1, -1, axis=2), X), X[..., 1:-1])
    check(run(lambda x: lax.slice_in_dim(x, None, None, 2, axis=2), X), X[..., ::2])
    check(run(lambda x: lax.index_in_dim(x, -1, 1), X), X[:, -1:])
    check(run(lambda x: lax.index_in_dim(x, 0, 1, keepdims=False), X), X[:, 0])


@pytest.mark.parametrize(
    "start, first", [(0, 0), (1, 1), (2, 2), (9, 2), (-1, 2), (-3, 1), (-9, 0)]
)
def test_dynamic_slices_stay_within_the_array(start, first):
    for given in (start, np.int32(start)):
        (result,) = run(lambda x, s: lax.dynamic_slice(x, (0, 0, s), (2, 1, 2)), X, given)
        np.testing.assert_array_equal(result, X[:, :1, first : first + 2])
        (result,) = run(lambda x, s: lax.dynamic_slice_in_dim(x, s, 2, 2), X, given)
        np.testing.assert_array_equal(result, X[..., first : first + 2])
        (result,) = run(
            lambda x, s: lax.dynamic_update_slice_in_dim(x, jnp.zeros((2, 3, 2)), s, 2), X, given
        )
        expected = X.copy()
        expected[..., first : first + 2] = 0
        np.testing.assert_array_equal(result, expected)


def test_dynamic_slices_at_a_constant_or_a_vector():
    check([lax.dynamic_slice(X, np.array([1, 0, 2]), (1, 3, 2))], X[1:, :, 2:])
    check([lax.dynamic_slice(X, [1, 0, 2], (1, 3, 2))], X[1:, :, 2:])
    check(run(lambda x, i: lax.dynamic_index_in_dim(x, i, 1), X, np.int32(2)), X[:, 2:])
    check(run(lambda x, i: lax.dynamic_index_in_dim(x, i, 1, False), X, np.int32(2)), X[:, 2])
    expected = X.copy()
    expected[:, 1] = -1
    for update in (np.full((2, 4), -1, np.float32), np.full((2, 1, 4), -1, np.float32)):
        (result,) = run(
            lambda x, u, i: lax.dynamic_update_index_in_dim(x, u, i, 1), X, update, np.int32(1)
        )
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: lax.broadcast_in_dim(X, (3, 2), (0,)), TypeError, "broadcast_in_dim: an array"),
        (lambda: lax.broadcast_in_dim(X[0], (3, 4), (1, 0)), TypeError, "broadcast_in_dim"),
        (lambda: lax.broadcast_in_dim(np.ones((2, 2)), (2, 2), (1, 1)), TypeError, "differ"),
        (lambda: lax.reshape(X, (5,)), ValueError, r"size 24\) into shape \(5,\)"),
        (lambda: lax.transpose(X, (0, 1)), TypeError, "once"),
        (lambda: lax.rev(X, (3,)), TypeError, "axis 3"),
        (lambda: lax.squeeze(X, (0,)), ValueError, "not 1"),
        (lambda: lax.pad(ONES, 0, [(1, 1, 0)]), TypeError, "scalar of dtype float32"),
        (lambda: lax.pad(ONES, 0.0, [(1, 1)]), ValueError, "padding_config"),
        (lambda: lax.pad(ONES, 0.0, [(-2, -2, 0)]), ValueError, "more away"),
        (lambda: lax.concatenate([ONES, jnp.arange(3)], 0), TypeError, "float32 and int32"),
        (lambda: lax.concatenate([], 0), ValueError, "at least one"),
        (lambda: lax.concatenate([ONES, ONES], 5), TypeError, "has no dimension 5"),
        (lambda: lax.iota(bool, 3), TypeError, "one of numbers, got bool"),
        (lambda: lax.slice(X, (0, 0, 0), (2, 3, 5)), TypeError, "do not fit"),
        (lambda: lax.slice(X, (0,), (1,)), ValueError, "an entry for each dimension"),
        (lambda: lax.index_in_dim(X, 2), IndexError, "index 2 is out of bounds"),
        (lambda: lax.dynamic_slice(X, (0, 0), (1, 1, 1)), ValueError, "each of the 3 dimensions"),
        (lambda: lax.dynamic_slice(ONES, (0.5,), (1,)), TypeError, "integer scalar"),
        (lambda: lax.dynamic_slice(ONES, (0,), (4,)), TypeError, "slice_sizes"),
        (lambda: lax.dynamic_update_slice(ONES, jnp.ones(4), (0,)), TypeError, "larger"),
        (lambda: lax.dynamic_update_slice(ONES, jnp.arange(2), (0,)), TypeError, "dtype"),
        (lambda: lax.full((2,), ONES), TypeError, "scalar"),
        (lambda: lax.iota("float32", -1), TypeError, "at least 0"),
        (lambda: lax.bitcast_convert_type(jnp.ones(3, "int8"), "int32"), ValueError, "be 4, the"),
    ],
)
def test_structure_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_bitcasts():
    x = np.array([1.0, -2.5], np.float32)
    check(run(lambda x: lax.bitcast_convert_type(x, "int32"), x), x.view(np.int32))
    check(run(lambda x: lax.bitcast_convert_type(x, "uint8"), x), x.view(np.uint8).reshape(2, 4))
    bytes_ = x.view(np.uint8).reshape(2, 4)
    check(run(lambda x: lax.bitcast_convert_type(x, "float32"), bytes_), x)


def test_stop_gradient():
    def f(x):
        return x["a"] * lax.stop_gradient(x)["a"] + lax.stop_gradient(x["n"])

    point = {"a": jnp.float32(3), "n": jnp.float32(2)}
    gradient = irax.grad(f)(point)
    assert (float(gradient["a"]), float(gradient["n"])) == (3, 0)
    assert float(irax.jvp(lax.stop_gradient, (2.0,), (1.0,))[1]) == 0
    check(run(lax.stop_gradient, X), X)
    check(run(lax.stop_gradient, np.arange(3)), np.arange(3))
    lanes = irax.vmap(irax.grad(lambda x: lax.stop_gradient(x) * x))(jnp.arange(3.0))
    np.testing.assert_array_equal(lanes, [0, 1, 2])
    assert float(irax.grad(irax.grad(lambda x: lax.stop_gradient(x) * x**2))(3.0)) == 6


# ---- reductions, contraction, sorting ------------------------------------------------------------


def test_reductions():
    for name, fold in (("sum", np.sum), ("prod", np.prod), ("max", np.max), ("min", np.min)):
        for axes in ((0,), (0, 2), ()):
            (result,) = run(lambda x, n=name, a=axes: getattr(lax, f"reduce_{n}")(x, a), X + 1)
            np.testing.assert_allclose(result, fold(X + 1, axis=axes), rtol=1e-6)
    bits = np.array([[12, 10], [7, 1]], np.int32)
    for name, fold in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        (result,) = run(lambda x, n=name: getattr(lax, f"reduce_{n}")(x, (0,)), bits)
        np.testing.assert_array_equal(result, fold.reduce(bits, 0))
    assert lax.reduce_max(np.zeros((0, 2), np.float32), (0,)).tolist() == [-np.inf, -np.inf]


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin"])
def test_cumulative(name):
    fold = {"cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum}
    for n in (0, 1, 3, 8):
        x = numbers((2, n))
        for reverse in (False, True):
            (result,) = run(lambda x, r=reverse: getattr(lax, name)(x, 1, r), x)
            expected = x[:, ::-1] if reverse else x
            expected = fold[name].accumulate(expected, 1)
            expected = expected[:, ::-1] if reverse else expected
            np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
    assert lax.cummax(jnp.array([1, 3, 2])).tolist() == [1, 3, 3]


def test_argmax():
    x = np.array([[1, 5, 5], [np.nan, 7, np.nan]], np.float32)
    check(run(lambda x: lax.argmax(x, 1, "int32"), x), [1, 0])
    check(run(lambda x: lax.argmin(x, 1, "uint8"), x), [0, 0])
    assert lax.argmin(x, 1, "uint8").dtype == np.uint8
    with pytest.raises(ValueError, match="empty"):
        lax.argmax(np.zeros((0,)), 0, "int32")


def test_contraction():
    x, y = numbers((2, 3)), numbers((3, 4))
    np.testing.assert_allclose(run(lax.dot, x, y)[0], x @ y, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(run(lax.dot, x, y[:, 0])[0], x @ y[:, 0], rtol=1e-5, atol=1e-5)
    a, b = numbers((5, 2, 3)), numbers((5, 3, 4))
    np.testing.assert_allclose(run(lax.batch_matmul, a, b)[0], a @ b, rtol=1e-5, atol=1e-5)
    (result,) = run(lambda a, b: lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,)))), a, b)
    np.testing.assert_allclose(result, a @ b, rtol=1e-5, atol=1e-5)
    with pytest.raises(TypeError, match=r"contracting dimensions \(0,\) and \(0,\)"):
        lax.dot_general(ONES, jnp.ones(4), (((0,), (0,)), ((), ())))
    with pytest.raises(ValueError, match=r"lax.dot: shapes"):
        lax.dot(ONES, jnp.ones(4))


MIXED = ["float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "int8", "uint8"]


@pytest.mark.slow
@pytest.mark.parametrize("transform", [lambda f: f, irax.jit])
def test_products_of_mixed_dtypes_keep_what_the_preferred_one_holds(transform):
    product = functools.partial(lax.dot, preferred_element_type=np.float32)
    rng = np.random.default_rng(0)
    for left, right in itertools.permutations(MIXED if transform is not irax.jit else MIXED[:3], 2):
        x, y = (rng.integers(0, 60, (3, 3)).astype(dtype) for dtype in (left, right))
        x[0, 0] = 200 if left == "uint8" else x[0, 0]
        expected = x.astype(np.float32) @ y.astype(np.float32)
        np.testing.assert_array_equal(transform(product)(x, y), expected, f"{left} {right}")


def test_sorting():
    keys, values = np.array([3, 1, 3, 2], np.int32), np.array([10, 20, 30, 40], np.float32)
    check(run(lax.sort, keys), np.sort(keys))
    result = run(lax.sort_key_val, keys, values)
    np.testing.assert_array_equal(result[1], [20, 40, 10, 30])
    both = run(lambda a, b: lax.sort((a, b), num_keys=2), keys, -values)
    np.testing.assert_array_equal(both[1], [-20, -40, -30, -10])
    x = np.array([[1, 5, np.nan, 5], [2, -np.inf, 0, 9]], np.float32)
    largest, places = run(lambda x: lax.top_k(x, 3), x)
    np.testing.assert_array_equal(largest, [[np.nan, 5, 5], [9, 2, 0]])
    np.testing.assert_array_equal(places, [[2, 1, 3], [3, 0, 2]])
    largest, _ = run(lambda x: lax.top_k(x, 1, axis=0), x)
    np.testing.assert_array_equal(largest, [[2, 5, np.nan, 9]])
    gradient = irax.grad(lambda x: lax.top_k(x, 2)[0].sum())(jnp.array([1.0, 3.0, 2.0]))
    np.testing.assert_array_equal(gradient, [0, 1, 1])
    with pytest.raises(ValueError, match="k must be 0 to 4"):
        lax.top_k(x, 5)
    with pytest.raises(ValueError, match="num_keys"):
        lax.sort(keys, num_keys=2)
    with pytest.raises(TypeError, match="one shape"):
        lax.sort((keys, values[:2]))


def test_derivatives():
    with irax.enable_x64(True):
        x = jnp.asarray(numbers((2, 4), "float64"))
        for function in (
            lambda x: lax.cumsum(x, 1) ** 2,
            lambda x: lax.cumprod(x, 1, reverse=True),
            lambda x: lax.cummax(x, 1),
            lambda x: lax.dynamic_slice(x, (0, 1), (2, 2)) ** 2,
            lambda x: lax.pad(x, 1.0, [(1, 0, 0), (-1, 1, 1)]) ** 2,
            lambda x: lax.top_k(x, 2)[0] ** 2,
            lambda x: lax.integer_pow(x, 5) + lax.integer_pow(x, -2),
            lambda x: lax.clamp(-1.0, x, 2.0) ** 2,
        ):
            check_grads(function, (x,), order=2)


# ---- gather and scatter --------------------------------------------------------------------------

ROWS = lax.GatherDimensionNumbers((1,), (0,), (0,))
ROWS_TO = lax.ScatterDimensionNumbers((1,), (0,), (0,))


def test_gather():
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    places = np.array([[2], [0], [9], [-1]])
    take = lambda mode, **o: lambda x, i: lax.gather(x, i, ROWS, (1, 3), mode=mode, **o)
    np.testing.assert_array_equal(run(take("clip"), x, places)[0], x[[2, 0, 3, 0]])
    filled = np.concatenate([x[[2, 0]], np.full((2, 3), np.nan)])
    np.testing.assert_array_equal(run(take(None), x, places)[0], filled)
    filled[2:] = -5
    np.testing.assert_array_equal(run(take("fill", fill_value=-5), x, places)[0], filled)
    promised = take(lax.GatherScatterMode.PROMISE_IN_BOUNDS)
    np.testing.assert_array_equal(run(promised, x, places[:2])[0], x[[2, 0]])
    windows = lax.GatherDimensionNumbers((1, 2), (), (0, 1))
    (result,) = run(
        lambda x, i: lax.gather(x, i, windows, (2, 2)), x, np.array([[0, 1], [2, 0], [3, 0]])
    )
    np.testing.assert_array_equal(result[:2], [x[0:2, 1:3], x[2:4, 0:2]])
    assert np.isnan(result[2]).all()


def test_scatter():
    x = np.ones((4, 3), np.float32)
    places = np.array([[2], [0], [2], [9]])
    updates = np.arange(2, 14, dtype=np.float32).reshape(4, 3)
    for name, fold in (
        ("scatter_add", np.add),
        ("scatter_mul", np.multiply),
        ("scatter_min", np.minimum),
        ("scatter_max", np.maximum),
    ):
        (result,) = run(
            lambda x, i, u, n=name: getattr(lax, n)(x, i, u, ROWS_TO), x, places, updates
        )
        expected = x.copy()
        for row, update in zip((2, 0, 2), updates, strict=False):  # what is beyond is left out
            expected[row] = fold(expected[row], update)
        np.testing.assert_array_equal(result, expected)
    clip = lambda x, i, u: lax.scatter(x, i, u, ROWS_TO, mode="clip")
    (result,) = run(clip, x, np.array([[1], [9]]), updates[:2])
    np.testing.assert_array_equal(result, [x[0], updates[0], x[0], updates[1]])


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: lax.gather(X[0], np.array([[0.5]]), ROWS, (1, 4)), TypeError, "integers"),
        (lambda: lax.gather(X[0], np.array([[0]]), ROWS, (1,)), TypeError, "slice_sizes"),
        (lambda: lax.gather(X[0], np.array([[0]]), ROWS, (1, 4), mode="x"), ValueError, "mode"),
        (
            lambda: lax.scatter(X[0], np.array([[0]]), np.ones((1, 4), int), ROWS_TO),
            TypeError,
            "operand's dtype float32, got int32",
        ),
    ],
)
def test_gather_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


# ---- choosing ------------------------------------------------------------------------------------


def test_select_of_numbers_in_vmap():
    """As in JAX, where numbers that are not mapped are cases of all elements, in vmap alone."""
    rows = np.array([[True, False, True], [False, False, True]])
    found = irax.vmap(lambda row: lax.select(row, 1.0, -1.0))(rows)
    np.testing.assert_array_equal(found, np.where(rows, 1, -1))
    with pytest.raises(TypeError, match="the predicate must be a scalar"):
        lax.select(rows, 1.0, -1.0)
    with pytest.raises(TypeError, match="the predicate must be a scalar"):
        irax.vmap(lambda row, x: lax.select(row, x, -x))(rows, np.ones(2, np.float32))


def test_select():
    condition = np.array([[True, False], [False, True]])
    x, y = numbers((2, 2)), numbers((2, 2), seed=1)
    check(run(lax.select, condition, x, y), np.where(condition, x, y))
    check(run(lax.select, np.True_, x, y), x)
    which = np.array([[0, 1], [2, -5]], np.int32)
    check(run(lax.select_n, which, x, y, -x), np.choose(np.clip(which, 0, 2), [x, y, -x]))
    check(run(lax.clamp, np.float32(-1), x, np.float32(1)), np.clip(x, -1, 1))
    with pytest.raises(TypeError, match="one shape"):
        lax.select(condition, x, 2.0)
    with pytest.raises(TypeError, match="predicate must be a scalar or of shape"):
        lax.select(condition[0], x, y)
    with pytest.raises(TypeError, match="boolean"):
        lax.select_n(condition, x, y, x)
    with pytest.raises(TypeError, match="bound must be a scalar"):
        lax.clamp(np.ones((1, 2), np.float32), x, np.float32(1))
    with pytest.raises(TypeError, match=r"lax.clamp: got dtypes"):
        lax.clamp(0, x, 1)


def gather_of(shape=(4, 3), indices=(2, 1), sizes=(1, 3), mode=None, **numbers):
    given = {"offset_dims": (1,), "collapsed_slice_dims": (0,), "start_index_map": (0,)} | numbers
    dims = lax.GatherDimensionNumbers(**given)
    return lax.gather(jnp.ones(shape), jnp.zeros(indices, int), dims, sizes, mode=mode)


def scatter_of(shape=(4, 3), indices=(2, 1), updates=(2, 3), **numbers):
    given = {
        "update_window_dims": (1,),
        "inserted_window_dims": (0,),
        "scatter_dims_to_operand_dims": (0,),
    }
    dims = lax.ScatterDimensionNumbers(**given | numbers)
    return lax.scatter_add(jnp.ones(shape), jnp.zeros(indices, int), jnp.ones(updates), dims)


@pytest.mark.parametrize(
    "call, field",
    [
        (lambda: gather_of(offset_dims=(2,)), "offset_dims"),
        (lambda: gather_of(offset_dims=(0, 0), collapsed_slice_dims=()), "offset_dims"),
        (lambda: gather_of(collapsed_slice_dims=(5,)), "collapsed_slice_dims"),
        (lambda: gather_of(start_index_map=(2,)), "start_index_map"),
        (lambda: gather_of(start_index_map=(0, 1)), "start_index_map"),
        (lambda: gather_of(operand_batching_dims=(0,)), "operand_batching_dims"),
        (lambda: gather_of(collapsed_slice_dims=()), "together"),
        (lambda: gather_of(sizes=(2, 3)), "dimension 0"),
        (lambda: gather_of(sizes=(1, 4)), "sizes"),
        (
            lambda: gather_of(
                (2, 3, 4),
                (3, 5, 1),
                (1, 1, 1),
                offset_dims=(),
                collapsed_slice_dims=(1, 2),
                start_index_map=(1,),
                operand_batching_dims=(0,),
                start_indices_batching_dims=(0,),
            ),
            "start_indices_batching_dims",
        ),
        (lambda: scatter_of(update_window_dims=(3,)), "update_window_dims"),
        (lambda: scatter_of(inserted_window_dims=(0, 0)), "inserted_window_dims"),
        (lambda: scatter_of(scatter_dims_to_operand_dims=(7,)), "scatter_dims_to_operand_dims"),
        (lambda: scatter_of(scatter_dims_to_operand_dims=()), "scatter_dims_to_operand_dims"),
        (lambda: scatter_of(updates=(5, 3)), "updates"),
        (lambda: scatter_of(updates=(2, 4)), "sizes"),
        (lambda: scatter_of(updates=(2, 3, 1)), "updates"),
    ],
)
def test_dimension_numbers_that_do_not_fit(call, field):
    with pytest.raises(TypeError, match=field):
        call()


def test_dimension_numbers_that_fit():
    assert gather_of().shape == (2, 3)
    assert float(scatter_of().sum()) == 18
    assert scatter_of((0, 3), (0, 1), (0, 3)).shape == (0, 3)


def test_dtypes_of_values_and_of_types():
    assert lax.dtype(np.float32) == lax.dtype("float32") == lax.dtype(1.0) == np.float32
    assert lax.dtype(np.int8(1)) == lax.dtype(jnp.int8) == np.int8
    assert lax.dtype(int) == np.int32
    with pytest.raises(TypeError):
        lax.dtype([1.0])


def test_transforms_of_other_numbers_and_of_no_dimension():
    np.testing.assert_array_equal(lax.fft(jnp.arange(4), "FFT", (4,)), np.fft.fft(np.arange(4)))
    np.testing.assert_array_equal(lax.fft(jnp.ones(3), "FFT", ()), np.ones(3, np.complex64))
    np.testing.assert_allclose(lax.fft(jnp.arange(4), "RFFT", (4,)), np.fft.rfft(np.arange(4)))
    with pytest.raises(ValueError, match="real numbers"):
        lax.fft(jnp.ones(4, complex), "RFFT", (4,))


def test_presets_for_floats_of_8_bits():
    x = jnp.ones((2, 3), "float8_e4m3fn")
    for preset in lax.DotAlgorithmPreset:
        if preset.name.startswith("ANY_F8"):
            found = lax.dot(x, x.T, precision=preset, preferred_element_type="float32")
            np.testing.assert_array_equal(found, np.full((2, 2), 3.0))
            with pytest.raises(ValueError, match="8-bit floats"):
                lax.dot(jnp.ones(3), jnp.ones(3), precision=preset)


def test_products_of_two_dtypes():
    x, y = jnp.ones((2, 2), "bfloat16"), jnp.full((2, 2), 3, "int16")
    with irax.numpy_dtype_promotion("strict"):  # a product is where they are meant to meet
        assert lax.dot(x, y).dtype == jnp.bfloat16
    one, other = (jnp.full((2, 2), 2.0, name) for name in ("float8_e4m3fn", "float8_e5m2"))
    found = lax.dot(one, other, preferred_element_type="float32")
    np.testing.assert_array_equal(found, np.full((2, 2), 8.0))
    assert lax.dot(one, other).dtype == "float8_e5m2"  # the larger exponent


def test_a_product_in_a_wider_dtype():
    x = np.int8([100, -100])
    for run_it in (lambda f: f, irax.jit):
        found = run_it(lambda x: lax.mul(x, x, out_dtype="int32"))(x)
        assert found.dtype == np.int32
        np.testing.assert_array_equal(found, [10000, 10000])


def test_small_things_that_are_those_of_jax():
    with pytest.raises(TypeError, match="index_dtype"):
        lax.argmax(jnp.ones(3), 0, np.float32)
    np.testing.assert_array_equal(lax.map(lambda x: 2 * x, jnp.arange(3), batch_size=0), [0, 2, 4])
    pads = lax.padtype_to_pads(np.array([3]), np.array([2]), np.array([1]), "SAME")
    assert all(type(n) is int for n in pads[0])
    assert lax.real(1j).weak_type
    assert lax.imag(1j).weak_type
    assert not lax.imag(jnp.ones(2, complex)).weak_type
    with irax.disable_jit(disable=True):
        assert irax.config.disable_jit
    with irax.numpy_rank_promotion("raise"):
        assert lax.broadcast_shapes((1, 3), (3,)) == (1, 3)
        assert gather_of(mode="fill").shape == (2, 3)


def test_sorts_of_many_arrays_and_of_constants_compile():
    rng = np.random.default_rng(0)
    arrays = rng.integers(0, 2, (34, 16)).astype(np.int32)
    fixed = -np.arange(35, dtype=np.float32).reshape(5, 7)

    def function(arrays):
        results = lax.sort(list(arrays), num_keys=16)
        return results[0], results[15], results[33], lax.sort(jnp.asarray(fixed), dimension=0)

    found = irax.jit(function)(arrays)
    order = np.lexsort(arrays[15::-1])
    for number, result in zip((0, 15, 33), found, strict=False):
        np.testing.assert_array_equal(result, arrays[number][order])
    np.testing.assert_array_equal(found[3], fixed[::-1])


def test_group_sizes_for_each_batch():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(3, 2, 4, 6))
    sizes = np.array([[[1, 2, 2], [0, 5, 0], [2, 2, 0]], [[5, 0, 0], [1, 1, 1], [0, 0, 4]]])
    numbers = lax.RaggedDotDimensionNumbers((((3,), (2,)), ((0,), (1,))), [2], [0])
    expected = np.zeros((2, 3, 5, 6))
    for b, r in np.ndindex(2, 3):
        group = np.repeat(np.arange(4), [*sizes[b, r], 5 - sizes[b, r].sum()])
        for k in range(3):
            expected[b, r, group == k] = x[b, r, group == k] @ y[k, b]
    for wrap in (lambda f: f, irax.jit):
        found = wrap(lambda x, y, n: lax.ragged_dot_general(x, y, n, numbers))(x, y, sizes)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(TypeError, match=r"group_sizes has shape \(2, 3\); expected \(3,\), or"):
        lax.ragged_dot_general(x, y, sizes[:, 0], numbers)


def test_broadcasts_in_any_order():
    x = np.arange(4.0, dtype=np.float32).reshape(2, 2)
    for shape, dims in (((2, 2), (1, 0)), ((2, 3, 2), (2, 0)), ((3, 2, 2), (2, 1))):
        moved = x.T if dims[0] > dims[1] else x
        new = ({0, 1, 2} - {*dims}).pop()
        wide = np.expand_dims(moved, new) if len(shape) > 2 else moved
        expected = np.broadcast_to(wide, shape)
        for wrap in (lambda f: f, irax.jit):
            f = lambda x, shape=shape, dims=dims: lax.broadcast_in_dim(x, shape, dims)
            np.testing.assert_array_equal(wrap(f)(x), expected)
    check_grads(lambda x: lax.broadcast_in_dim(x, (2, 3, 2), (2, 0)), (x,), 2)
    with pytest.raises(TypeError, match="must differ"):
        lax.broadcast_in_dim(x, (2, 2), (1, 1))


def test_a_scatter_drops_windows_partly_outside_as_a_whole():
    numbers = lax.ScatterDimensionNumbers((1,), (), (0,))
    x, updates = np.zeros(5), np.arange(1.0, 13).reshape(4, 3)
    wanted = np.array([0.0, 10, 11, 12, 0])
    for dtype in (np.int8, np.uint32, np.int64):
        at = np.array([[3], [5], [127], [1]], dtype)
        for function in (lax.scatter_add, irax.jit(lax.scatter_add, static_argnums=3)):
            np.testing.assert_array_equal(function(x, at, updates, numbers), wanted)
