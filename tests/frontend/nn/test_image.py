"""irax.image: against its definition, and against JAX where it is installed."""

import numpy as np
import pytest

import irax
from irax import image
from irax.test_util import check_grads

try:
    import jax.image as oracle
except ImportError:
    oracle = None

RNG = np.random.default_rng(0)
X = RNG.standard_normal((5, 4, 2)).astype(np.float32)
METHODS = ["nearest", "linear", "cubic", "cubic-pytorch", "lanczos3", "lanczos5", "area"]


@pytest.mark.parametrize("method", METHODS)
def test_constants_stay_constant(method: str) -> None:
    for shape in ((8, 3), (2, 9), (1, 1)):
        found = image.resize(np.full((5, 4), 3.0, np.float32), shape, method)
        np.testing.assert_allclose(found, np.full(shape, 3.0), rtol=1e-5)


def test_known_sizes() -> None:
    x = np.arange(8.0, dtype=np.float32)
    np.testing.assert_allclose(image.resize(x, (4,), "area"), [0.5, 2.5, 4.5, 6.5])
    between = np.interp(np.arange(16) / 2 - 0.25, np.arange(8), x)
    np.testing.assert_allclose(image.resize(x, (16,), "linear"), between, rtol=1e-6)
    np.testing.assert_array_equal(image.resize(x, (4,), "nearest"), [1, 3, 5, 7])
    assert image.resize(np.arange(4), (8,), "nearest").dtype == np.int32
    check_grads(lambda v: image.resize(v, (3, 6, 2), "cubic"), (X,), order=1, atol=1e-2, rtol=1e-2)


@pytest.mark.skipif(oracle is None, reason="needs JAX as an oracle")
@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_as_jax(method: str, antialias: bool) -> None:
    for shape in ((7, 9, 2), (3, 2, 2), (5, 3, 2), (9, 4, 3)):
        expected = oracle.resize(X, shape, method, antialias)
        found = image.resize(X, shape, method, antialias)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    if method in ("nearest", "area"):
        return
    scale, move = np.array([0.7, 2.1], "f4"), np.array([0.4, -1.2], "f4")
    expected = oracle.scale_and_translate(X, (6, 5, 2), (0, 1), scale, move, method, antialias)
    function = irax.jit(
        lambda s, t: image.scale_and_translate(X, (6, 5, 2), (0, 1), s, t, method, antialias)
    )
    np.testing.assert_allclose(function(scale, move), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: image.resize(X, (3, 3), "linear"), "must have 3 dimensions"),
        (lambda: image.resize(X, X.shape, "x"), "no method 'x'"),
        (
            lambda: image.scale_and_translate(X, X.shape, (0,), X[0, 0], X[0, 0], "linear"),
            r"scale must have shape \(1,\)",
        ),
        (
            lambda: image.scale_and_translate(X, X.shape, (0, -3), X[0, 0], X[0, 0], "linear"),
            r"each dimension once, got \(0, -3\)",
        ),
    ],
)
def test_wrong_arguments(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_methods_that_are_not_one() -> None:
    one = np.ones(1, np.float32)
    with pytest.raises(TypeError, match="resize: method must be a name"):
        image.resize(X, X.shape, None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="scale_and_translate: method must be a name"):
        image.scale_and_translate(X, X.shape, (0,), one, one, 1)  # pyright: ignore[reportArgumentType]
