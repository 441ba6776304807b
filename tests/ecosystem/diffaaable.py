"""diffaaable: rational approximations by AAA, a gradient through one, and a pole."""

import jax
import jax.numpy as jnp


def run():
    jax.config.update("jax_enable_x64", True)
    from diffaaable import aaa, poles

    z = jnp.linspace(-2, 2, 60) + 0j

    def samples(p):
        return 1 / (z - p - 0.3j) + jnp.sin(z * p)

    def power(p):
        return jnp.sum(jnp.abs(aaa(z, samples(p + 0j), tol=1e-9)[1]) ** 2)

    nodes, _, weights, _ = aaa(z, samples(1.2 + 0j), tol=1e-9)
    return {
        "nodes": jnp.sort(nodes.real),
        "weights": jnp.sort(jnp.abs(weights)),
        "slope": jax.grad(power)(1.2),
        "error of the pole": jnp.sort(jnp.abs(poles(nodes, weights) - 1.2 - 0.3j))[:1],
    }
