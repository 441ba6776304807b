"""braintools: losses, initializers, metrics and inputs of brain models."""

import brainstate
import braintools
import brainunit as u
import jax
import jax.numpy as jnp


def run():
    logits = jax.random.normal(jax.random.key(0), (5, 3))
    labels = jnp.array([0, 2, 1, 1, 0])
    spikes = (jax.random.uniform(jax.random.key(1), (50, 6)) > 0.8).astype(jnp.float32)
    with brainstate.environ.context(dt=0.1 * u.ms):
        current = braintools.input.section([0.0, 1.0, 0.0], [1.0 * u.ms, 2.0 * u.ms, 1.0 * u.ms])
    loss = braintools.metric.softmax_cross_entropy_with_integer_labels
    return {
        "loss": loss(logits, labels),
        "slope": jax.grad(lambda x: loss(x, labels).mean())(logits),
        "rate": braintools.metric.firing_rate(spikes, 0.5 * u.ms, 0.1 * u.ms),
        "input": jnp.asarray(u.get_mantissa(current)),
    }
