"""Folds and scatters by functions of the user's, and cumulative folds: against NumPy and loops."""

import itertools

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.test_util import check_grads

X = np.random.default_rng(0).uniform(-2, 2, (3, 4)).astype(np.float32)
ROWS = lax.ScatterDimensionNumbers((1,), (0,), (0,))
CONSTANT = jnp.asarray(2.0)


def both(function, *arguments):
    """The results at once and compiled, which agree."""
    now = irax.tree_util.tree_leaves(function(*arguments))
    compiled = irax.tree_util.tree_leaves(irax.jit(function)(*arguments))
    for a, b in zip(now, compiled, strict=True):
        assert (a.dtype, a.weak_type) == (b.dtype, b.weak_type)
        np.testing.assert_allclose(a, b, rtol=1e-6)
    return now


def test_reduce_by_any_computation():
    (found,) = both(lambda x: lax.reduce(x, -jnp.inf, jnp.logaddexp, (1,)), X)
    np.testing.assert_allclose(found, np.log(np.exp(X).sum(1)), rtol=1e-6)
    (found,) = both(lambda x: lax.reduce(x, 0, lax.add, (0, 1)), X)
    np.testing.assert_allclose(found, X.sum(), rtol=1e-6)


def test_reduce_of_several_arrays():
    def largest(a, b):
        return {key: jnp.where(a["x"] >= b["x"], a[key], b[key]) for key in a}

    places = np.broadcast_to(np.arange(4, dtype=np.int32), X.shape)
    found = both(
        lambda x, i: lax.reduce({"x": x, "i": i}, {"x": -jnp.inf, "i": np.int32(-1)}, largest, [1]),
        X,
        places,
    )
    np.testing.assert_array_equal(found[0], X.argmax(1))
    np.testing.assert_array_equal(found[1], X.max(1))


def test_a_computation_may_use_constants_and_other_functions():
    (found,) = both(lambda x: lax.reduce(x, 0.0, irax.jit(lambda a, b: a + b), (0,)), X)
    np.testing.assert_allclose(found, X.sum(0), rtol=1e-5)
    capped = lambda a, b: jnp.minimum(a + b, CONSTANT)
    (found,) = both(lambda x: lax.reduce(x, 0.0, capped, (0,)), np.ones((3, 2), np.float32))
    np.testing.assert_array_equal(found, [2, 2])


@pytest.mark.parametrize(
    "error, message, call",
    [
        (ValueError, "axis 5", lambda x: lax.reduce(x, 0.0, lax.add, (5,))),
        (ValueError, "structure", lambda x: lax.reduce((x, x), 0.0, lax.add, (0,))),
        (TypeError, "must be a scalar", lambda x: lax.reduce(x, x[0], lax.add, (0,))),
        (TypeError, "dtype float32", lambda x: lax.reduce(x, np.int32(0), lax.add, (0,))),
        (TypeError, "one shape", lambda x: lax.reduce((x, x[0]), (0.0, 0.0), lax.add, (0,))),
        (TypeError, "must return", lambda x: lax.reduce(x, 0.0, lambda a, b: a > b, (0,))),
        (TypeError, "return scalars", lambda x: lax.reduce(x, 0.0, lambda a, b: x[0], (0,))),
        (TypeError, "window_dimensions", lambda x: lax.reduce_window(x, 0.0, lax.add, (2,))),
        (TypeError, "positive", lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (0, 1))),
        (RuntimeError, "padding", lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), None, "A")),
        (
            NotImplementedError,
            "element by element",
            lambda x: lax.reduce(x, 0.0, lambda a, b: jnp.stack([a, b]).sum(), (0,)),
        ),
    ],
)
def test_errors_name_what_is_wrong(error, message, call):
    with pytest.raises(error, match=message):
        call(jnp.asarray(X))


def test_an_init_value_is_not_truncated():
    with pytest.raises(TypeError, match="must have its operand's dtype int32, got float32"):
        lax.reduce(jnp.arange(3), 0.5, lax.add, (0,))
    with pytest.raises(TypeError, match="must have its operand's dtype int32, got float32"):
        lax.reduce_window(jnp.arange(3), 0.5, lax.add, (2,))


def test_a_computation_cannot_use_traced_values_from_outside():
    with pytest.raises(NotImplementedError, match="traced value from outside"):
        irax.jit(lambda x, y: lax.reduce(x, 0.0, lambda a, b: a + b * y, (0, 1)))(X, 2.0)


@pytest.mark.parametrize("padding", ["VALID", "SAME", "SAME_LOWER", ((1, 0), (0, 2))])
def test_reduce_window(padding):
    def pool(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (2, 3), (1, 2), padding)

    (found,) = both(pool, X)
    pads = {"VALID": ((0, 0), (0, 0)), "SAME": ((0, 1), (0, 1)), "SAME_LOWER": ((1, 0), (1, 0))}
    padded = np.pad(X, pads.get(padding, padding), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (2, 3))[:, ::2]
    np.testing.assert_array_equal(found, windows.max((2, 3)))
    count = lax.reduce_window_shape_tuple(X.shape, (2, 3), (1, 2), padding)
    assert count == found.shape


def test_reduce_window_of_several_arrays():
    def add_and_max(a, b):
        return a[0] + b[0], jnp.maximum(a[1], b[1])

    found = both(lambda x: lax.reduce_window((x, x), (0.0, -jnp.inf), add_and_max, (1, 2)), X)
    np.testing.assert_allclose(found[0], X[:, 1:] + X[:, :-1], rtol=1e-6)
    np.testing.assert_array_equal(found[1], np.maximum(X[:, 1:], X[:, :-1]))


CUMULATIVE = {
    lax.cumsum: np.cumsum,
    lax.cumprod: np.cumprod,
    lax.cummax: np.maximum.accumulate,
    lax.cummin: np.minimum.accumulate,
    lax.cumlogsumexp: np.logaddexp.accumulate,
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("function", CUMULATIVE, ids=lambda f: f.__name__)
def test_cumulative(function):
    ways = [(axis, reverse) for axis in (0, 1) for reverse in (False, True)]
    results = both(lambda x: [function(x, *way) for way in ways], X)
    for (axis, reverse), found in zip(ways, results, strict=True):
        x = np.flip(X, axis) if reverse else X
        expected = CUMULATIVE[function](x, axis)
        expected = np.flip(expected, axis) if reverse else expected
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    for way in ways[::3]:
        check_grads(lambda x, way=way: function(x, *way) ** 2, (jnp.asarray(X),), 2, rtol=0.05)


OF_COMPLEX = {
    lax.cummax: lambda x, y: max(x, y, key=lambda z: (z.real, z.imag)),
    lax.cummin: lambda x, y: min(x, y, key=lambda z: (z.real, z.imag)),
    lax.cumlogsumexp: lambda x, y: np.log(np.exp(x) + np.exp(y)),
}


@pytest.mark.parametrize("function", OF_COMPLEX, ids=lambda f: f.__name__)
def test_cumulative_of_complex_numbers(function):
    x = np.array([1 + 2j, 1 + 1j, 0 + 3j, 2 - 1j, 2 + 3j], np.complex64)
    for reverse in (False, True):
        (found,) = both(lambda x, reverse=reverse: function(x, 0, reverse), x)
        expected = list(itertools.accumulate(x[::-1] if reverse else x, OF_COMPLEX[function]))
        np.testing.assert_allclose(found[::-1] if reverse else found, expected, rtol=1e-5)
    distinct = jnp.asarray(x + 0.1 * np.arange(5, dtype=np.float32))  # in their real parts
    check_grads(lambda x: function(x).sum(), (distinct,), 1, rtol=0.05)


def test_cumulative_at_infinities_and_zeros():
    x = jnp.array([-jnp.inf, -jnp.inf, 0.0, jnp.inf, 1.0])
    np.testing.assert_array_equal(lax.cumlogsumexp(x), [-np.inf, -np.inf, 0, np.inf, np.inf])
    gradient = irax.grad(lambda x: lax.cumlogsumexp(x)[1])(jnp.array([-jnp.inf, 2.0]))
    np.testing.assert_array_equal(gradient, [0, 1])
    gradient = irax.grad(lambda x: lax.cumprod(x).sum())(jnp.array([2.0, 0.0, 3.0]))
    np.testing.assert_array_equal(gradient, [1, 8, 0])
    nans = lax.cummax(jnp.array([1.0, jnp.nan, 3.0]))
    np.testing.assert_array_equal(nans, [1, np.nan, np.nan])
    assert lax.cumsum(jnp.zeros((0, 3))).shape == (0, 3)


def test_scatter_by_functions_of_many_operations():
    def function(v):
        bits = lax.bitcast_convert_type(v, np.int32)
        counts = lax.population_count(bits) + lax.clz(bits)
        halves = jnp.floor(v * 4) / 2
        rounded = lax.round(halves) * 8 + lax.round(halves, lax.RoundingMethod.TO_NEAREST_EVEN)
        return jnp.sin(v) + rounded + counts

    places = np.array([[1], [1], [2], [7]])
    twice = lambda x: lax.scatter_apply(x, places, function, ROWS, update_shape=(4, 4))
    (found,) = both(twice, X)
    once = function(jnp.asarray(X))
    np.testing.assert_allclose(found, [X[0], function(once[1]), once[2]], rtol=1e-6)


def test_scatter_by_a_function():
    places = np.array([[1], [1], [2], [7]])
    double = lambda x: lax.scatter_apply(x, places, lambda v: v * 2, ROWS, update_shape=(4, 4))
    (found,) = both(double, X)
    np.testing.assert_array_equal(found, X * [[1], [4], [2]])
    (found,) = both(lambda x, u: lax.scatter_sub(x, places, u, ROWS), X, np.ones((4, 4), "f4"))
    np.testing.assert_allclose(found, X - [[0], [2], [1]], rtol=1e-6)
    once = lambda x: lax.scatter_apply(
        x, places[2:], jnp.sin, ROWS, update_shape=(2, 4), unique_indices=True
    )
    check_grads(once, (jnp.asarray(X),), 2, rtol=0.05)
    with pytest.raises(NotImplementedError, match="unique_indices=True"):
        irax.grad(lambda x: double(x).sum())(jnp.asarray(X))
    with pytest.raises(TypeError, match="dtype float32"):
        lax.scatter_apply(X, places, lambda v: v > 0, ROWS, update_shape=(4, 4))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: jnp.logaddexp(x, 0), 0.25),
        (lambda x: jnp.logaddexp(0, x), 0.25),
        (lambda x: jnp.logaddexp2(x, 0), 0.25 * np.log(2)),
        (lambda x: lax.cumlogsumexp(jnp.stack([x, 0.0 * x]))[1], 0.25),
        (irax.nn.softplus, 0.25),
        (irax.nn.log_sigmoid, -0.25),
    ],
)
def test_second_derivatives_of_logarithms_of_sums_of_equal_terms(function, expected):
    np.testing.assert_allclose(irax.grad(irax.grad(function))(0.0), expected, rtol=1e-5)


def test_the_derivative_of_the_logarithm_of_a_sum_of_equal_complex_terms():
    z = 1 + 2j
    np.testing.assert_allclose(irax.grad(jnp.logaddexp, holomorphic=True)(z, z), 0.5, atol=1e-6)


@pytest.mark.parametrize("run", [lambda f: f, irax.jit])
def test_reduce_with_a_complex_constant(run):
    x = np.array([1 + 2j, 3 - 1j], np.complex64)
    product = lambda x: lax.reduce(x, np.complex64(1), lambda a, b: a * b * np.complex64(1j), (0,))
    np.testing.assert_allclose(run(product)(x), x[0] * 1j * x[1] * 1j)
