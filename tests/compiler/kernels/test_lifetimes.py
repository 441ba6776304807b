"""Arrays in a kernel's own memory, which share it where they are not alive at a time."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

X = np.random.default_rng(0).standard_normal((16, 20)).astype(np.float32)


def chain(x):
    """One step after the other: of six sorted arrays, two are alive at a time."""
    for i in range(6):
        x = jnp.sort(jnp.sin(x), i % 2) + 0.25 * jnp.flip(x, 1)
    return x


def held_over_a_loop(x):
    """A value from before an inner loop is read after it, and one of each of its steps is not."""
    early, late = jnp.flip(x, 0), jnp.sort(x, 1)

    def step(i, y):
        return jnp.flip(jnp.cos(y), 1) + jnp.sort(y, 0) * early[i]

    return jnp.tanh(lax.fori_loop(0, 4, step, late) + jnp.flip(early, 1))


def in_branches(x):
    def one(x):
        return jnp.flip(jnp.sort(x, 0), 1) + jnp.flip(x, 0)

    def other(x):
        return jnp.sort(jnp.flip(x, 0), 1) * 0.5

    y = lax.cond(x[0, 0] > 0, one, other, x)
    return jnp.tanh(jnp.flip(y, 1) - x)


def updated(x):
    y = jnp.flip(x, 0)
    z = y.at[2].set(x[3]).at[:, 5].add(1.0)
    return jnp.tanh(jnp.sort(z, 0) + y)


def in_turn(x):
    """Sums in the place of terms, beside the same numbers in another order, and of a row alone."""
    y = jnp.sort(x, 0)
    z = jnp.sin(y) + jnp.flip(y, 1)
    w = jnp.cos(z) - jnp.sort(z, 1)
    return jnp.tanh(w + z[3]) * jnp.sort(w, 0)


def gathered(x):
    """Elements in the place of their indices, and indices that index themselves."""
    places = jnp.sort(jnp.arange(x.size) ^ 5)
    places = places[(places * 7) % x.size] ^ 1
    return jnp.sin(x.ravel()[places]).reshape(x.shape) + 0.5 * jnp.flip(x, 0)


def with_late_operands(x):
    """A comparison may wait for the result that needs it, and one with what is updated may not."""
    is_large, y = x > 0.25, jnp.sort(x, 0)
    z = x.at[2].set(y[3])
    return jnp.tanh(jnp.where(is_large, jnp.sort(z, 1), y) + x)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "step",
    [chain, held_over_a_loop, in_branches, updated, in_turn, gathered, with_late_operands],
    ids=lambda f: f.__name__,
)
def test_values(step):
    def steps(x):
        return lax.fori_loop(0, 5, lambda i, x: step(x), x)

    found = irax.jit(steps)(X)
    with irax.disable_jit():
        expected = steps(X)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def temporaries(step, x=X):
    """The bytes of temporaries of a loop."""

    def steps(x):
        return lax.fori_loop(0, 5, lambda i, x: step(x), x)

    return irax.jit(steps).lower(x).compile().memory_analysis().temp_size_in_bytes


@pytest.mark.slow
def test_memory():
    """The chain needs room for what is alive at a time, and not for all of its values."""
    assert temporaries(chain) <= 5 * X.nbytes


@pytest.mark.slow
def test_results_are_in_the_place_of_operands():
    def step(x):
        y = jnp.sort(x, 0)
        for _ in range(3):
            y = jnp.sin(y) + jnp.flip(x, 1)
            x, y = jnp.tanh(y), y
        return jnp.sort(y, 1) + x

    assert temporaries(step) < 4 * X.nbytes


@pytest.mark.slow
def test_gathered_elements_are_in_the_place_of_indices():
    """The numbers that these are computed from are in no memory at all."""

    def step(x):
        places = jnp.arange(x.size) ^ x[0].astype(int)
        return jnp.maximum(x, x[places])

    x = np.ones(1024, np.float32)
    assert temporaries(step, x) < 1.5 * x.nbytes


@pytest.mark.slow
def test_what_a_later_operation_needs_is_computed_there():
    """Neither a broadcast number nor a comparison with what is carried on is stored before."""

    def step(x):
        high = jnp.broadcast_to(jnp.sum(x) / x.size, x.shape)
        is_high = x > 0.5
        y = jnp.sort(jnp.sin(x), 0)
        return jnp.where(is_high, x, y + high)

    assert temporaries(step) < 2.5 * X.nbytes
