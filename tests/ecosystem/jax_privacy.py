"""JAX Privacy: clipped gradients, noise for them, and strategies of correlated noise."""

import jax
import jax.numpy as jnp
from jax_privacy import clipping, matrix_factorization, noise_addition


def run():
    params = {"w": jnp.ones(5) * 0.2, "b": jnp.array(0.0)}
    x = jax.random.normal(jax.random.key(0), (24, 5)) * 2
    y = x @ jnp.arange(5.0)

    def loss(params, x, y):
        return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)

    how = {"l2_clip_norm": 1.5, "batch_argnums": (1, 2)}
    whole = clipping.clipped_grad(loss, **how, return_grad_norms=True, return_values=True)
    parts = clipping.clipped_grad(loss, **how, microbatch_size=6)(params, x, y)
    noise = noise_addition.gaussian_privatizer(stddev=0.7, prng_key=jax.random.key(5))
    first, state = noise.update(parts, noise.init(params))
    second, _ = noise.update(parts, state)
    toeplitz = matrix_factorization.toeplitz
    return {
        "clipped": jax.tree.leaves(jax.jit(whole)(params, x, y)),
        "in parts": parts,
        "with noise": (first, second),
        "strategy": toeplitz.optimal_max_error_strategy_coefs(16),
        "banded": toeplitz.optimize_banded_toeplitz(16, bands=4),
    }
