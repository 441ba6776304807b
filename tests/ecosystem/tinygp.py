"""tinygp: Gaussian processes with dense and quasiseparable kernels, with gradients."""

import jax
import jax.numpy as jnp
from tinygp import GaussianProcess, kernels


def run():
    x = jnp.sort(jax.random.uniform(jax.random.key(0), (40,))) * 5
    y = jnp.sin(x)

    def likelihood(params):
        kernel = jnp.exp(params["a"]) * kernels.ExpSquared(jnp.exp(params["l"]))
        gp = GaussianProcess(kernel, x, diag=jnp.exp(params["s"]))
        return gp.log_probability(y)

    def fast(params):
        kernel = kernels.quasisep.Matern32(scale=jnp.exp(params["l"]), sigma=jnp.exp(params["a"]))
        gp = GaussianProcess(kernel, x, diag=jnp.exp(params["s"]))
        return gp.log_probability(y)

    params = {"a": jnp.array(0.1), "l": jnp.array(-0.2), "s": jnp.array(-2.0)}
    dense = jax.jit(jax.value_and_grad(likelihood))(params)
    quick = jax.jit(jax.value_and_grad(fast))(params)
    gp = GaussianProcess(kernels.Matern52(0.8), x, diag=0.1)
    _, conditioned = gp.condition(y, jnp.linspace(0, 5, 6))
    return {
        "dense": dense,
        "fast": quick,
        "mean": conditioned.loc,
        "variance": conditioned.variance,
        "sample": gp.sample(jax.random.key(1)),
    }
