"""chex: dataclasses, assertions and checks of values in compiled functions."""

import chex
import jax
import jax.numpy as jnp


@chex.dataclass
class State:
    position: chex.Array
    velocity: chex.Array


@jax.jit
@chex.assert_max_traces(2)
def step(state):
    chex.assert_shape(state.position, (3,))
    chex.assert_type(state.velocity, float)
    acceleration = -jnp.sin(state.position)
    velocity = state.velocity + 0.1 * acceleration
    return State(position=state.position + 0.1 * velocity, velocity=velocity)


@chex.chexify
@jax.jit
def root(x):
    chex.assert_trees_all_close(jnp.sqrt(x) ** 2, x, atol=1e-3)
    return jnp.sqrt(x)


def run():
    state = State(position=jnp.arange(3.0), velocity=jnp.zeros(3))
    for _ in range(10):
        state = step(state)
    failed = 0
    try:
        chex.assert_rank(state.position, 2)
    except AssertionError:
        failed = 1
    return {"state": state.position, "root": root(jnp.arange(4.0)), "failed": failed}
