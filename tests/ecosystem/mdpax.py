"""Mdpax: a forest and an inventory as Markov decision processes, solved."""

import jax.numpy as jnp
from mdpax.problems import DeMoorSingleProductPerishable, Forest
from mdpax.solvers import PolicyIteration, ValueIteration


def run():
    s = ValueIteration(Forest(), gamma=0.9, epsilon=0.01, verbose=0).solve(max_iterations=500)
    p = PolicyIteration(Forest(), gamma=0.9, verbose=0).solve(max_iterations=20)
    d = ValueIteration(
        DeMoorSingleProductPerishable(max_useful_life=2, max_order_quantity=5, max_demand=8),
        gamma=0.95,
        epsilon=1.0,
        verbose=0,
    ).solve(max_iterations=10)
    return {
        "policy": jnp.asarray(s.policy),
        "values": jnp.asarray(s.values),
        "p": jnp.asarray(p.policy),
        "d": jnp.asarray(d.values),
        "dp": jnp.asarray(d.policy),
    }
