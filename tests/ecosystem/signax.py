"""Signax: signatures and logarithms of signatures of paths, joined, and their gradients."""

import jax
import jax.numpy as jnp
import signax


def run():
    paths = jnp.cumsum(jax.random.normal(jax.random.key(0), (6, 20, 3)) * 0.3, 1)
    first = signax.signature(paths[0, :10], 3, flatten=False)
    second = signax.signature(paths[0, 9:], 3, flatten=False)

    def total(path):
        return jnp.sum(jnp.sin(signax.logsignature(path, 3)))

    return {
        "signatures": signax.signature(paths, 4),
        "logarithms": signax.logsignature(paths, 3),
        "stream": signax.signature(paths[0], 3, stream=True),
        "joined": signax.signature_combine(first, second),
        "gradient": jax.grad(total)(paths),
        "gradients": jax.jit(jax.vmap(jax.grad(total)))(paths),
    }
