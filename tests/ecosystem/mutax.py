"""Mutax: differential evolution of two functions."""

import jax.numpy as jnp
from mutax import differential_evolution


def run():
    r = differential_evolution(lambda x: jnp.sum(x**2), [(-5, 5)] * 4)
    s = differential_evolution(
        lambda x: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2, [(-2, 2)] * 2
    )
    return {"x": r.x, "fun": r.fun, "s": s.x}
