"""jaxpike: a network of spiking neurons, unrolled in several ways, and its gradient."""

import jax
import jax.numpy as jnp
import jaxpike as jp


def run():
    first, second, third = jax.random.split(jax.random.key(0), 3)
    net = jp.Sequential(
        jp.Dense(12, 16, key=first),
        jp.LIF(tau=20.0),
        jp.Dense(16, 3, key=second),
        jp.LIF(tau=20.0, surrogate=jp.ATan()),
    )
    xs = 4 * jax.random.uniform(third, (25, 4, 12))
    labels = jnp.array([0, 1, 2, 1])

    def loss(net, unroll):
        spikes, _ = unroll(net, xs)
        scores = jax.nn.log_softmax(jp.spike_rate(spikes))
        return -scores[jnp.arange(4), labels].mean()

    spikes, state = jp.unroll(net, xs)
    return {
        "spikes": spikes,
        "state": jax.tree.leaves(state),
        "slope": jax.tree.leaves(jax.grad(loss)(net, jp.unroll)),
        "again": jax.tree.leaves(jax.grad(loss)(net, jp.unroll_checkpointed)),
    }
