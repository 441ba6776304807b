"""Jaxdp: value and policy iteration on finite Markov decision processes."""

import jax
import jax.numpy as jnp
import jaxdp


def run():
    mdp = jaxdp.make("frozen-lake-deterministic")
    algo = jaxdp.ValueIteration(gamma=0.99)
    state = algo.init(mdp)
    for _ in range(50):
        state = algo.update(mdp, state)
    pi = jaxdp.greedy_map.v(mdp, state.v_val, algo.gamma)
    garnet = jaxdp.make("garnet")
    v = jnp.linspace(0.0, 1.0, garnet.state_size)

    @jax.jit
    @jax.vmap
    def target(gamma):
        return jnp.max(jaxdp.reward.sa(garnet) + gamma * jaxdp.trans_op.sa(garnet, v), axis=0)

    return {
        "values": state.v_val,
        "policy": jnp.asarray(pi),
        "evaluated": jaxdp.policy_eval.v(mdp, pi, algo.gamma),
        "targets": target(jnp.array([0.9, 0.99, 0.995])),
    }
