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


@pytest.mark.parametrize(
    "step", [chain, held_over_a_loop, in_branches, updated], ids=lambda f: f.__name__
)
def test_values(step):
    def steps(x):
        return lax.fori_loop(0, 5, lambda i, x: step(x), x)

    found = irax.jit(steps)(X)
    with irax.disable_jit():
        expected = steps(X)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_memory():
    """The chain needs room for what is alive at a time, and not for all of its values."""

    def steps(x):
        return lax.fori_loop(0, 5, lambda i, x: chain(x), x)

    memory = irax.jit(steps).lower(X).compile().memory_analysis()
    assert memory.temp_size_in_bytes <= 5 * X.nbytes
