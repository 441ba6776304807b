"""mctx: Gumbel MuZero and MuZero searches of a small game."""

import jax
import jax.numpy as jnp
import mctx


def run():
    def recurrent(params, key, action, embedding):
        state = embedding + params * jnp.sin(action + embedding)
        logits = jnp.stack([state, -state, 0.5 * state, jnp.cos(state)], -1)
        out = mctx.RecurrentFnOutput(
            reward=jnp.tanh(state),
            discount=jnp.full_like(state, 0.9),
            prior_logits=logits,
            value=state,
        )
        return out, state

    state = jnp.linspace(-1.0, 1.0, 3)
    root = mctx.RootFnOutput(prior_logits=jnp.zeros((3, 4)), value=state, embedding=state)
    gumbel = jax.jit(
        lambda key: mctx.gumbel_muzero_policy(0.7, key, root, recurrent, num_simulations=12)
    )(jax.random.PRNGKey(0))
    plain = jax.jit(
        lambda key: mctx.muzero_policy(
            0.7, key, root, recurrent, num_simulations=12, dirichlet_fraction=0.0
        )
    )(jax.random.PRNGKey(1))
    return {
        "actions": gumbel.action,
        "weights": gumbel.action_weights,
        "plain": plain.action_weights,
        "values": plain.search_tree.summary().value,
    }
