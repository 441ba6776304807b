"""Functions that are replayed outside of traces: their results, and which calls are alike."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax.replay import replayed

X = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)


def test_the_third_call_is_the_first():
    calls = []

    @replayed
    def f(x, y=1.0, *, axis=0):
        calls.append(axis)
        return {"sum": jnp.sum(x * y, axis=axis), "x": x}

    x = jnp.asarray(X)
    for _ in range(4):
        found = f(x, axis=1)
        np.testing.assert_allclose(found["sum"], X.sum(1), rtol=1e-5)
    assert len(calls) == 2  # at once, and traced; then it is replayed
    np.testing.assert_allclose(f(x, axis=0)["sum"], X.sum(0), rtol=1e-5)
    np.testing.assert_allclose(f(x, -0.0, axis=0)["sum"], 0)
    assert f(x, 2)["sum"].dtype == np.float32
    assert f(x.astype(int), 2)["sum"].dtype == np.int32


def test_weak_types_and_options_count():
    @replayed
    def double(x):
        return x * 2

    for _ in range(3):
        assert double(jnp.asarray(1.5)).weak_type
        assert not double(jnp.float32(1.5)).weak_type
    with irax.enable_x64(True):
        assert double(jnp.float64(1.5)).dtype == np.float64


def test_zeros_keep_their_signs():
    @replayed
    def scaled(x, y):
        return x * y

    for _ in range(3):
        assert not np.signbit(scaled(jnp.float32(2), 0.0))
        assert np.signbit(scaled(jnp.float32(2), -0.0))


def test_functions_that_need_elements_are_not_replayed():
    @replayed
    def f(x):
        return x if float(x) > 0 else -x

    for value in (1.0, -1.0, -2.0, 3.0):
        assert f(jnp.float32(value)) == abs(value)


def test_under_transformations():
    for _ in range(3):
        np.testing.assert_allclose(irax.grad(lambda x: jnp.std(x))(X), irax.grad(jnp.std)(X))
        assert irax.vmap(jnp.median)(X).shape == (4,)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda x: jnp.median(x, 1), lambda x: np.median(x, 1)),
        (lambda x: jnp.quantile(x, 0.3), lambda x: np.quantile(x, 0.3)),
        (lambda x: jnp.cov(x), np.cov),
        (lambda x: jnp.pad(x, ((1, 2), (0, 1))), lambda x: np.pad(x, ((1, 2), (0, 1)))),
        (lambda x: jnp.gradient(x, 2.0)[1], lambda x: np.gradient(x, 2.0)[1]),
        (lambda x: jnp.searchsorted(x[0], x), lambda x: np.searchsorted(x[0], x)),
        (lambda x: jnp.hypot(x, x.T[:4, :1]), lambda x: np.hypot(x, x.T[:4, :1])),
    ],
)
def test_values(ours, theirs):
    for _ in range(3):
        np.testing.assert_allclose(ours(jnp.asarray(X)), theirs(X), rtol=2e-5)
