"""Loops over strips of steps, in which products of rows take less memory at a time."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler.passes.optimize import hoist_row_products

RNG = np.random.default_rng(0)
XS = RNG.normal(size=(12, 3, 5)).astype(np.float32)
OTHERS = RNG.normal(size=(12, 3, 4)).astype(np.float32)
W = RNG.normal(size=(5, 40)).astype(np.float32)
H = RNG.normal(size=(3, 4)).astype(np.float32)


def product(x, w):
    """A product of which little is kept, so that it takes more memory than the results."""
    wide = x @ w
    return wide[:, :4] + wide[:, 4:8]


def row(xs, i):
    return lax.dynamic_slice(xs, (i, 0, 0), (1, 3, 5)).reshape(3, 5)


def states(xs, others, w, h):
    return lax.scan(lambda h, x: (jnp.tanh(h + product(x, w)), None), h, xs)[0]


def outputs(xs, others, w, h):
    def step(h, rows):
        x, y = rows
        h = jnp.tanh(h * y + product(x, w))
        return h, (h, h.sum())

    return lax.scan(step, h, (xs, others))


def backwards(xs, others, w, h):
    return lax.scan(lambda h, x: (jnp.tanh(h + product(x, w)), h), h, xs, reverse=True)


def by_counter(xs, others, w, h):
    def step(i, h):
        return jnp.tanh(h + product(row(xs, i), w)) * jnp.asarray(i, jnp.float32) + others[11 - i]

    return lax.fori_loop(0, 12, step, h)


def from_two(xs, others, w, h):
    return lax.fori_loop(2, 12, lambda i, h: jnp.tanh(h + product(row(xs, i), w)), h)


def two_products(xs, others, w, h):
    def step(h, rows):
        x, y = rows
        return jnp.tanh(h + product(x, w)), h + y @ jnp.ones((4, 4), np.float32)

    return lax.scan(step, h, (xs, others))


def rows_of_carried(xs, others, w, h):
    """Each step reads the row that the step before wrote."""

    def step(i, rows):
        return rows.at[i].set(jnp.tanh(rows[i - 1] + product(row(xs, i), w)))

    return lax.fori_loop(0, 12, step, jnp.zeros((12, 3, 4), np.float32) + h)


def nested(xs, others, w, h):
    def step(h, y):
        return states(xs, others, w, h) + y, h

    return lax.scan(step, h, others)


def itself(function):
    return function


DIVIDED = (states, outputs, two_products, nested)
FUNCTIONS = (*DIVIDED, backwards, by_counter, from_two, rows_of_carried)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("derive", [itself, irax.jacrev, irax.jacfwd])
def test_results_are_those_of_one_loop(function: Any, derive: Callable[..., Any], monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    monkeypatch.setattr(hoist_row_products, "MOST_AT_ONCE", 2048)
    monkeypatch.setattr(hoist_row_products, "STRIPS", 3)
    made = []
    divided = hoist_row_products.divided
    monkeypatch.setattr(
        hoist_row_products, "divided", lambda *given: made.append(divided(*given)) or made[-1]
    )
    arguments = tuple(map(jnp.asarray, (XS, OTHERS, W, H)))
    found = irax.jit(derive(function))(*arguments)
    expected = derive(function)(*arguments)
    if derive is itself:
        assert any(x is not None for x in made) == (function in DIVIDED)
    for a, b in zip(*map(irax.tree_util.tree_leaves, (found, expected)), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


def test_products_of_long_sequences_take_a_part_of_their_memory():
    xs = RNG.normal(size=(40, 16, 64)).astype(np.float32)
    w = RNG.normal(size=(64, 512)).astype(np.float32) / 8

    def f(xs, w):
        def step(h, x):
            h = jnp.tanh(h + (x @ w)[:, :64])
            return h, h

        return lax.scan(step, xs[0], xs)

    memory = irax.jit(f).lower(xs, w).compile().memory_analysis()
    assert memory.temp_size_in_bytes < 40 * 16 * 512 * 4 // 2
    for a, b in zip(irax.jit(f)(xs, w), f(xs, w), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_products_in_a_kernel_take_the_memory_of_a_few_rows():
    xs = RNG.normal(size=(60, 64)).astype(np.float32)
    w = RNG.normal(size=(64, 256)).astype(np.float32) / 8

    def f(xs, w):
        def step(h, x):
            a, b, c, d = jnp.split(x @ w, 4)
            h = jnp.tanh(h * a + b * c - d)
            return h, h

        return lax.scan(step, xs[0], xs)

    memory = irax.jit(f).lower(xs, w).compile().memory_analysis()
    assert memory.temp_size_in_bytes < 60 * 256 * 4 // 5
    for a, b in zip(irax.jit(f)(xs, w), f(xs, w), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("reverse", [False, True])
def test_products_are_in_the_memory_of_what_steps_write(reverse):
    xs = RNG.normal(size=(40, 64)).astype(np.float32)
    w = RNG.normal(size=(64, 64)).astype(np.float32) / 8

    def f(xs, w):
        return lax.scan(lambda total, x: (total, jnp.tanh(x @ w)), 0.0, xs, reverse=reverse)[1]

    memory = irax.jit(f).lower(xs, w).compile().memory_analysis()
    assert reverse or memory.temp_size_in_bytes < 4 * 40 * 64 // 4
    np.testing.assert_allclose(irax.jit(f)(xs, w), f(xs, w), rtol=1e-4, atol=1e-4)


def test_strips_have_the_arrays_in_the_order_of_their_products(monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    monkeypatch.setattr(hoist_row_products, "MOST_AT_ONCE", 2048)
    monkeypatch.setattr(hoist_row_products, "STRIPS", 3)
    numbers = []

    def record(loop, how, size, arrays, most):
        numbers.extend(x.arg_number for x in arrays)

    monkeypatch.setattr(hoist_row_products, "divided", record)

    def program(w, h, *arrays):
        step = lambda h, rows: (jnp.tanh(h + sum(product(x, w) for x in rows)), None)
        return lax.scan(step, h, arrays)[0]

    irax.jit(program).lower(W, H, *[XS + i for i in range(12)]).compile()
    assert numbers[:12] == list(range(2, 14))


def test_updates_of_numbers_have_no_rows():
    def total(x, number):
        def step(i, state):
            total, x = state
            return total + x * i, lax.dynamic_update_slice(x, number, ())

        return lax.fori_loop(0, 3, step, (number, x))

    found = irax.jit(total)(np.float32(3), np.float32(5))
    np.testing.assert_array_equal(found, [5 + 3 * 0 + 5 * (1 + 2), 5])
