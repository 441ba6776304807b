"""Stochastix: stochastic and mean-field kinetics, and a gradient through a simulation."""

import jax
import jax.numpy as jnp
import stochastix as stx
from stochastix.kinetics import MassAction


def run():
    net = stx.ReactionNetwork(
        [
            stx.Reaction("0 -> X", MassAction(k=0.5)),
            stx.Reaction("X -> Y", MassAction(k=0.2)),
            stx.Reaction("Y -> 0", MassAction(k=0.1)),
        ]
    )
    key = jax.random.PRNGKey(0)
    x0 = jnp.array([0, 0])
    r = stx.stochsimsolve(key, net, x0, T=50.0)
    tau = stx.stochsimsolve(key, net, x0, T=20.0, solver=stx.TauLeaping())
    first = stx.stochsimsolve(key, net, x0, T=20.0, solver=stx.FirstReactionMethod())

    def final(k):
        n = stx.ReactionNetwork(
            [stx.Reaction("0 -> X", MassAction(k=k)), stx.Reaction("X -> 0", MassAction(k=0.2))]
        )
        return (
            stx.stochsimsolve(
                key, n, jnp.array([1.0]), T=10.0, solver=stx.DifferentiableDirect(), max_steps=200
            )
            .x[-1]
            .sum()
        )

    return {
        "t": r.t[:20],
        "x": r.x[:20],
        "tau": tau.x[-1],
        "first": first.x[:10],
        "many": jax.vmap(lambda k: stx.stochsimsolve(k, net, x0, T=20.0, max_steps=500).x[-1])(
            jax.random.split(key, 8)
        ),
        "grad": jax.grad(final)(0.5),
    }
