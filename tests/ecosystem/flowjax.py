"""flowjax: a masked autoregressive flow and a spline coupling flow, fitted."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from flowjax.bijections import RationalQuadraticSpline
from flowjax.distributions import Normal
from flowjax.flows import coupling_flow, masked_autoregressive_flow
from paramax import unwrap


def run():
    key = jax.random.key(0)
    x = jax.random.normal(key, (64, 2)) * jnp.array([0.5, 2.0]) + 1.0
    found = {}
    for name, flow in {
        "autoregressive": masked_autoregressive_flow(
            key, base_dist=Normal(jnp.zeros(2)), flow_layers=2, nn_width=8
        ),
        "coupling": coupling_flow(
            key,
            base_dist=Normal(jnp.zeros(2)),
            flow_layers=2,
            nn_width=8,
            transformer=RationalQuadraticSpline(knots=4, interval=4),
        ),
    }.items():
        params, static = eqx.partition(flow, eqx.is_inexact_array)
        tx = optax.adam(1e-2)
        state = tx.init(params)

        @eqx.filter_jit
        def step(params, state, static=static, tx=tx):
            def loss(params):
                return -unwrap(eqx.combine(params, static)).log_prob(x).mean()

            value, slopes = eqx.filter_value_and_grad(loss)(params)
            updates, state = tx.update(slopes, state)
            return eqx.apply_updates(params, updates), state, value

        losses = []
        for _ in range(3):
            params, state, value = step(params, state)
            losses.append(value)
        fitted = unwrap(eqx.combine(params, static))
        found[name] = losses
        found[f"{name} samples"] = fitted.sample(key, (5,))
    return found
