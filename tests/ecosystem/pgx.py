"""Pgx: random games of backgammon, Go and others, batched."""

import jax
import jax.numpy as jnp
import pgx


def run():
    found = {}
    for name in ("tic_tac_toe", "backgammon", "go_9x9", "kuhn_poker"):
        env = pgx.make(name)

        def play(key, env=env):
            state = env.init(key)

            def body(state, key):
                k1, k2 = jax.random.split(key)
                logits = jnp.where(state.legal_action_mask, 0.0, -1e9)
                action = jax.random.categorical(k1, logits)
                args = (k2,) if env.id == "backgammon" else ()
                state = env.step(state, action, *args)
                return state, (state.rewards, action)

            return jax.lax.scan(body, state, jax.random.split(key, 6))[1]

        found[name] = jax.jit(jax.vmap(play))(jax.random.split(jax.random.PRNGKey(0), 3))
    return found
