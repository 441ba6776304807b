"""thermox: an Ornstein-Uhlenbeck process, sampled exactly, and the gradient of its likelihood."""

import jax
import jax.numpy as jnp
import thermox


def run():
    drift = 2.0 * jnp.eye(5) + 0.5 * (jnp.eye(5, k=1) + jnp.eye(5, k=-1))
    diffusion = (
        2.0 * jnp.eye(5)
        + (jnp.eye(5, k=1) + jnp.eye(5, k=-1)) * jnp.array([1.0, 1, 0, 0, 0])[:, None]
    )
    diffusion = (diffusion + diffusion.T) / 2
    times = jnp.arange(0, 1, 0.02)
    samples = thermox.sample(
        jax.random.PRNGKey(0), times, jnp.zeros(5), drift, jnp.zeros(5), diffusion
    )
    likelihood = lambda b: thermox.log_prob(times, samples, drift, b, diffusion)
    value, slope = jax.value_and_grad(likelihood)(jnp.ones(5))
    return {"samples": samples, "likelihood": value, "slope": slope}
