"""surjectors: a normalizing flow that drops dimensions, trained."""

import distrax
import haiku as hk
import jax
import optax
from jax import numpy as jnp
from jax import random as jr
from surjectors import (
    Chain,
    LULinear,
    MaskedAutoregressive,
    ScalarAffine,
    Slice,
    TransformedDistribution,
)
from surjectors.nn import MADE, make_mlp


def decoder_fn(n_dim):
    def _fn(z):
        params = make_mlp([16, 16, n_dim * 2])(z)
        means, log_scales = jnp.split(params, 2, -1)
        return distrax.Independent(distrax.Normal(means, jnp.exp(log_scales)))

    return _fn


def run():
    @hk.without_apply_rng
    @hk.transform
    def flow(x):
        base = distrax.Independent(distrax.Normal(jnp.zeros(5), jnp.ones(5)), 1)
        autoregressive = MaskedAutoregressive(
            conditioner=MADE(5, [16], 2),
            bijector_fn=lambda p: ScalarAffine(*[s.squeeze(-1) for s in jnp.split(p, 2, -1)]),
        )
        transform = Chain([Slice(5, decoder_fn(5)), autoregressive, LULinear(5)])
        return TransformedDistribution(base, transform).log_prob(x)

    x = jr.normal(jr.PRNGKey(1), (16, 10))
    params = flow.init(jr.PRNGKey(2), x)
    tx = optax.adam(1e-2)
    state = tx.init(params)

    @jax.jit
    def step(params, state):
        value, slopes = jax.value_and_grad(lambda p: -jnp.mean(flow.apply(p, x)))(params)
        updates, state = tx.update(slopes, state)
        return optax.apply_updates(params, updates), state, value

    losses = []
    for _ in range(5):
        params, state, value = step(params, state)
        losses.append(value)
    return {"log_prob": flow.apply(params, x), "losses": losses}
