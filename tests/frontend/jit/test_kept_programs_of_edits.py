"""Programs that differ in a number are compiled once: what they compute, keep and report."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import api, cache
from irax_compiler.apart import scalars

RNG = np.random.default_rng(0)
W = RNG.normal(size=(6, 6)).astype("f")
X = RNG.normal(size=(3, 6)).astype("f")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Have a cache for each test, and numbers of small programs set apart."""
    monkeypatch.setenv("IRAX_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(scalars, "LEAST", 4)
    monkeypatch.setattr(scalars, "ELEMENTS", 1)
    irax.clear_caches()
    yield
    irax.clear_caches()


@pytest.fixture
def lowered(monkeypatch) -> list[str]:
    """The functions that were lowered."""
    names: list[str] = []
    lower = api.lower

    def noted(module, name, *args, **kwargs):
        names.append(name)
        return lower(module, name, *args, **kwargs)

    monkeypatch.setattr(api, "lower", noted)
    return names


def step(rate: float, epsilon: float = 1e-5, mask: float = -1e9) -> Callable[..., Any]:
    """A step of gradient descent of a network with a norm and a mask."""

    def loss(w: Any, x: Any) -> Any:
        x = x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + epsilon)
        y = jnp.where(x > 0.1, x @ w, mask)
        return jnp.sum(irax.nn.softmax(y) ** 2)

    def step(w: Any, x: Any) -> Any:
        return w - rate * irax.grad(loss)(w, x)

    return step


def short(rate: float, epsilon: float = 1e-5) -> Callable[..., Any]:
    """A function of few operations."""

    def short(w: Any, x: Any) -> Any:
        shifted = w + epsilon
        whole = jnp.sum(x * 0.3)
        return w - rate * shifted * whole

    return short


def with_numbers_inside(function: Callable[..., Any], *args: Any) -> np.ndarray:
    """Return the result of a function whose numbers are not set apart."""
    least, scalars.LEAST = scalars.LEAST, 1 << 30
    try:
        return np.asarray(irax.jit(function)(*args))
    finally:
        scalars.LEAST = least


def test_edits_compile_nothing(lowered):
    edits = [(0.1,), (0.07,), (0.3, 1e-3, -1e4)]
    for edit in edits:
        found = np.asarray(irax.jit(step(*edit))(W, X))
        assert lowered == ["step"], edit
        with irax.disable_jit():
            expected = np.asarray(step(*edit)(jnp.asarray(W), jnp.asarray(X)))
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=1e-6)
    found = np.asarray(irax.jit(step(*edits[-1]))(W, X))
    np.testing.assert_array_equal(found, with_numbers_inside(step(*edits[-1]), W, X))


def test_numbers_that_change_the_program(lowered):
    """Powers of two may be computed with in other ways; equal numbers of other lines may not."""
    for rate in (0.1, 0.5, 1e-5, 0.3):
        irax.jit(short(rate))(W, X)
    assert lowered == ["short"] * 2


def test_repeated_calls_and_donation():
    train = irax.jit(short(0.1), donate_argnums=0)
    plain = irax.jit(short(0.1))
    w, v = jnp.asarray(W), jnp.asarray(W)
    for _ in range(4):
        w, v = train(w, X), plain(v, X)
    np.testing.assert_array_equal(w, v)


def test_captured_arrays_come_before():
    table = jnp.asarray(RNG.normal(size=(64, 6)).astype("f"))

    def function(x: Any) -> Any:
        return jnp.sin(x @ table.T * 0.3) + 0.7

    expected = np.sin(X @ np.asarray(table).T * np.float32(0.3)) + np.float32(0.7)
    np.testing.assert_allclose(irax.jit(function)(X), expected, rtol=1e-4, atol=1e-5)


def test_other_precisions():
    def function(x: Any) -> Any:
        return jnp.tanh(x * 0.3 + 0.7) / 1.1 - x

    x = jnp.asarray(X, "bfloat16")
    expected = with_numbers_inside(function, x)
    np.testing.assert_array_equal(np.asarray(irax.jit(function)(x)), expected)


def test_compiled_stages_take_them():
    compiled = irax.jit(short(0.1)).lower(W, X).compile()
    np.testing.assert_array_equal(compiled(W, X), irax.jit(short(0.1))(W, X))
    assert compiled.memory_analysis().argument_size_in_bytes == W.nbytes + X.nbytes


def test_nans_are_explained():
    def function(x: Any) -> Any:
        return jnp.log(x * 0.3 - 0.7) * 1.3 + x

    irax.config.update("debug_nans", True)
    try:
        with pytest.raises(FloatingPointError, match=re.escape("jnp.log(x * 0.3 - 0.7)")):
            irax.jit(function)(X)
    finally:
        irax.config.update("debug_nans", False)


def test_starts_by_key(lowered):
    def run(rate: float) -> np.ndarray:
        irax.clear_caches()
        return np.asarray(irax.jit(short(rate), cache_key=f"rate {rate}")(W, X))

    first = [run(rate) for rate in (0.1, 0.07)]
    again = [run(rate) for rate in (0.1, 0.07)]
    np.testing.assert_array_equal(first, again)
    assert np.abs(first[0] - first[1]).max() > 0
    assert lowered == ["short"]


def test_the_list_of_what_is_kept_has_the_function():
    irax.jit(short(0.1))(W, X)
    found = [x.about() for x in cache.entries() if x.about().startswith("short")]
    assert found
    assert all(x.endswith("of f32[6,6], f32[3,6]") for x in found)
