"""evermore: a binned likelihood of a signal and a background, its gradient, and a fit."""

from typing import NamedTuple

import evermore as evm
import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Params(NamedTuple):
    mu: evm.Parameter
    syst: evm.NormalParameter


def run():
    hists = {"signal": jnp.array([3.0, 1.0]), "bkg": jnp.array([10.0, 20.0])}
    observed = jnp.array([15.0, 19.0])
    graph, dynamic, static = nnx.split(
        Params(evm.Parameter(1.0), evm.NormalParameter(0.0)), evm.filter.is_dynamic_parameter, ...
    )

    def loss(dynamic):
        params = nnx.merge(graph, dynamic, static)
        bkg = params.syst.scale_log_asymmetric(up=1.1, down=0.9)(hists["bkg"])
        expected = params.mu.scale()(hists["signal"]) + bkg
        log_likelihood = evm.pdf.PoissonContinuous(lamb=expected).log_prob(observed).sum()
        return -(log_likelihood + evm.util.sum_over_leaves(evm.loss.get_log_probs(params)))

    first, slope = jax.value_and_grad(loss)(dynamic)
    optimizer = optax.adam(0.1)

    @jax.jit
    def step(dynamic, state):
        updates, state = optimizer.update(jax.grad(loss)(dynamic), state)
        return optax.apply_updates(dynamic, updates), state

    state = optimizer.init(dynamic)
    for _ in range(50):
        dynamic, state = step(dynamic, state)
    return {
        "loss": first,
        "slope": jax.tree.leaves(slope),
        "fit": jax.tree.leaves(dynamic),
        "last": loss(dynamic),
    }
