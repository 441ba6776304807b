"""Jumanji: random walks in a snake game, a knapsack and a game of 2048."""

import jax
import jax.numpy as jnp
import jumanji


def run():
    found = {}
    for name in ("Snake-v1", "Game2048-v1", "Knapsack-v1"):
        env = jumanji.make(name)

        def walk(key, env=env):
            state, timestep = env.reset(key)

            def body(carry, key):
                state, timestep = carry
                mask = timestep.observation.action_mask.reshape(-1)
                action = jax.random.categorical(key, jnp.where(mask, 0.0, -1e9))
                state, timestep = env.step(state, action)
                return (state, timestep), (timestep.reward, action)

            return jax.lax.scan(body, (state, timestep), jax.random.split(key, 10))[1]

        found[name] = jax.jit(walk)(jax.random.PRNGKey(0))
    return found
