"""stheno: Gaussian processes on JAX, their posterior, and the gradient of a likelihood."""

import jax
import jax.numpy as jnp
import lab.jax as B
from stheno.jax import EQ, GP, Matern52


def run():
    x = jnp.linspace(0, 2, 10)
    y = x**2 + 0.1 * jnp.sin(9 * x)

    def likelihood(scale, noise):
        f = GP(EQ().stretch(scale) + 0.1 * Matern52())
        return f(x, noise).logpdf(y)

    f = GP(EQ())
    posterior = f | (f(x, 1e-2), y)
    predicted = posterior(jnp.array([0.5, 1.0, 3.0]))
    return {
        "mean": B.dense(predicted.mean),
        "variance": B.dense(predicted.var),
        "likelihood": jax.value_and_grad(likelihood, (0, 1))(0.7, 0.05),
    }
