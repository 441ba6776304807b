"""take, sort and what depends on elements for its shape, against NumPy."""

import ml_dtypes
import numpy as np
import pytest
from tests.frontend.numpy_helpers import numbers, run

import irax
import irax.numpy as jnp
from irax.test_util import check_grads

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def test_take():
    for places in (
        np.int32(1),
        np.array([2, 0, -1]),
        np.array([[0, 1], [1, 2]]),
        np.zeros((0,), int),
    ):
        (result,) = run(lambda x, i: jnp.take(x, i, 1), X, places)
        np.testing.assert_array_equal(result, np.take(X, places, 1))
        (result,) = run(jnp.take, X, places)
        np.testing.assert_array_equal(result, np.take(X, places))


def test_take_beyond_the_axis():
    places = np.array([-4, -3, 0, 2, 3, 100])
    x = np.array([10, 20, 30], np.float32)
    for mode in ("clip", "wrap"):
        (result,) = run(lambda x, i, m=mode: jnp.take(x, i, mode=m), x, places)
        np.testing.assert_array_equal(result, np.take(x, places, mode=mode))
    (result,) = run(jnp.take, x, places)
    np.testing.assert_array_equal(result, [np.nan, 10, 10, 30, np.nan, np.nan])
    (result,) = run(lambda x, i: jnp.take(x, i, fill_value=-1), x, places)
    np.testing.assert_array_equal(result, [-1, 10, 10, 30, -1, -1])
    for dtype, fill in (("int8", -128), ("uint8", 255), ("bool", True)):
        assert jnp.take(jnp.ones(3, dtype), 9) == np.array(fill, dtype)


def test_take_along_axis():
    for axis in (0, 1, -1):
        order = np.argsort(-X, axis)
        (result,) = run(lambda x, i, a=axis: jnp.take_along_axis(x, i, a), X, order)
        np.testing.assert_array_equal(result, np.take_along_axis(X, order, axis))
    place = np.array([[[1], [-1], [0]]])  # broadcast along the first axis
    (result,) = run(lambda x, i: jnp.take_along_axis(x, i, 2), X, place)
    np.testing.assert_array_equal(result, np.take_along_axis(X, np.repeat(place, 2, 0), 2))
    (result,) = run(lambda x, i: jnp.take_along_axis(x, i, None), X, np.array([3, 23]))
    np.testing.assert_array_equal(result, [3, 23])
    beyond = jnp.take_along_axis(X[0, 0], np.array([1, 9]), 0)
    np.testing.assert_array_equal(beyond, [1, np.nan])


def test_derivatives_of_take():
    x = jnp.arange(4.0)
    gradient = irax.grad(lambda x: jnp.sum(jnp.take(x, np.array([1, 1, -1, 9]), fill_value=0)))(x)
    np.testing.assert_array_equal(gradient, [0, 2, 0, 1])
    places = np.array([[0], [2]])
    gradient = irax.grad(lambda x: jnp.sum(jnp.take_along_axis(x, places, 1)))(jnp.ones((2, 3)))
    np.testing.assert_array_equal(gradient, [[1, 0, 0], [0, 0, 1]])
    lanes = irax.vmap(lambda x, i: x[i])(jnp.asarray(X[0]), np.array([0, 1, 3]))
    np.testing.assert_array_equal(lanes, [0, 5, 11])


@pytest.mark.parametrize(
    "dtype", ["int32", "uint8", "bool", "float32", "float16", ml_dtypes.bfloat16]
)
def test_sort(dtype):
    x = numbers((3, 7), dtype, 0, 3)
    if x.dtype.kind in "fV":
        x[1, 2], x[0, 3], x[2, 1] = np.nan, np.inf, -np.inf
    wide = x.astype(np.float64)
    for axis in (0, 1, -1, None):
        (result,) = run(lambda x, a=axis: jnp.sort(x, a), x)
        np.testing.assert_array_equal(result.astype(np.float64), np.sort(wide, axis))
        (order,) = run(lambda x, a=axis: jnp.argsort(x, a), x)
        np.testing.assert_array_equal(order, np.argsort(wide, axis, kind="stable"))


def test_sort_descending():
    x = np.array([3, 1, 2, 3, 1], np.int32)
    np.testing.assert_array_equal(
        run(lambda x: jnp.sort(x, descending=True), x)[0], [3, 3, 2, 1, 1]
    )
    (order,) = run(lambda x: jnp.argsort(x, descending=True), x)
    np.testing.assert_array_equal(order, [0, 3, 2, 1, 4])  # equal ones keep their order


def test_lexsort():
    last, first = np.array([1, 0, 1, 0]), np.array([2, 2, 1, 3])
    (order,) = run(lambda a, b: jnp.lexsort((a, b)), first, last)
    np.testing.assert_array_equal(order, np.lexsort((first, last)))


def test_derivative_of_sort():
    with irax.enable_x64(True):
        check_grads(
            lambda x: jnp.sort(x, 0) ** 2, (jnp.asarray(numbers((4, 2), "float64")),), order=2
        )


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(side):
    x = np.array([-np.inf, 1, 1, 3, np.inf, np.nan, np.nan])
    values = np.array([[0, 1, 2], [3, 9, -1], [np.inf, -np.inf, np.nan]])
    (result,) = run(lambda x, v: jnp.searchsorted(x, v, side), x, values)
    np.testing.assert_array_equal(result, np.searchsorted(x, values, side))
    (result,) = run(lambda x, v: jnp.searchsorted(x, v, side), np.array([1, 3, 3, 7]), np.int32(3))
    np.testing.assert_array_equal(result, np.searchsorted([1, 3, 3, 7], 3, side))


def test_nonzero():
    x = np.array([[0, 3, 0], [1, 0, 2]])
    for result, expected in zip(jnp.nonzero(x), np.nonzero(x), strict=True):
        np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(jnp.flatnonzero(x), np.flatnonzero(x))
    np.testing.assert_array_equal(jnp.argwhere(x), np.argwhere(x))
    assert jnp.nonzero(jnp.zeros(3))[0].shape == (0,)
    for number in (0.0, 1.0):
        assert jnp.argwhere(number).shape == np.argwhere(number).shape


@pytest.mark.parametrize("size", [0, 2, 3, 9])
def test_nonzero_of_a_given_size(size):
    x = np.array([[0, 3, 0], [1, 0, 2]])
    results = run(lambda x: jnp.nonzero(x, size=size, fill_value=-1), x)
    for result, expected in zip(results, np.nonzero(x), strict=True):
        np.testing.assert_array_equal(result, np.append(expected, [-1] * 9)[:size])


def test_unique():
    x = np.array([[3, 1, 3], [2, 1, 3]])
    for options in ({}, {"axis": 0}, {"axis": 1}):
        flags = {"return_index": True, "return_inverse": True, "return_counts": True}
        results = jnp.unique(x, **flags, **options)
        for result, expected in zip(results, np.unique(x, **flags, **options), strict=True):
            np.testing.assert_array_equal(result, expected)


def test_unravel_index():
    for result, expected in zip(
        run(lambda i: jnp.unravel_index(i, (2, 3, 4)), np.array([0, 7, 23])),
        np.unravel_index([0, 7, 23], (2, 3, 4)),
        strict=True,
    ):
        np.testing.assert_array_equal(result, expected)


def test_values_are_known_under_grad():
    def f(x):
        (places,) = jnp.nonzero(x > 1)  # its shape depends on x
        return jnp.sum(x[places] ** 2)

    np.testing.assert_array_equal(irax.grad(f)(jnp.array([1.0, 2.0, 3.0])), [0, 4, 6])


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: jnp.take(X, 1.5), ValueError, "take: indices must be integers"),
        (lambda: jnp.take(X, [1]), TypeError, "take: indices: "),
        (lambda: jnp.take(X, 1, 3), ValueError, "take: axis 3 is out of bounds"),
        (lambda: jnp.take(X, 1, mode="raise"), NotImplementedError, "'raise'"),
        (lambda: jnp.take(X, 1, mode="zzz"), ValueError, "mode must be"),
        (lambda: jnp.take(jnp.zeros((0, 2)), 0, 0), IndexError, "empty"),
        (lambda: jnp.take_along_axis(X, np.array([1]), 0), ValueError, "as many dimensions"),
        (lambda: jnp.sort(X, order="x"), TypeError, "order"),
        (lambda: jnp.searchsorted(X, 1), ValueError, "vector"),
        (lambda: jnp.searchsorted(X[0, 0], 1, "up"), ValueError, "side"),
        (lambda: irax.make_ir(jnp.nonzero)(X), TypeError, "nonzero needs the elements"),
        (lambda: irax.make_ir(jnp.unique)(X), TypeError, "unique needs the elements"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
