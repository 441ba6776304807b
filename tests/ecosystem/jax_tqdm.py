"""jax-tqdm: bars of progress for scans and counted loops, inside of jit."""

import jax
import jax.numpy as jnp
from jax_tqdm import loop_tqdm, scan_tqdm


def run():
    @scan_tqdm(100)
    def step(carry, i):
        return carry * 0.99 + jnp.sin(i * 0.1), carry

    @loop_tqdm(60, print_rate=7)
    def body(i, carry):
        return carry + 1.0 / (i + 1)

    return {
        "scan": jax.jit(lambda c: jax.lax.scan(step, c, jnp.arange(100)))(0.5),
        "loop": jax.lax.fori_loop(0, 60, body, 0.0),
        "slope": jax.grad(lambda c: jax.lax.scan(step, c, jnp.arange(100))[0])(0.5),
    }
