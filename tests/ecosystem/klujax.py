"""klujax: sparse solves by KLU, and their derivatives."""

import jax
import jax.numpy as jnp
import klujax


def run():
    i, j = jnp.array([0, 0, 1, 1, 2, 2]), jnp.array([0, 1, 1, 2, 0, 2])
    values = jnp.array([4.0, 1.0, 3.0, 0.5, 1.0, 5.0], jnp.float64)
    b = jnp.array([1.0, 2.0, 3.0], jnp.float64)
    solved = lambda v: jnp.sum(klujax.solve(i, j, v, b) ** 2)
    return {
        "solution": klujax.solve(i, j, values, b),
        "slope": jax.grad(solved)(values),
        "product": klujax.dot(i, j, values, b),
        "complex": jnp.abs(klujax.solve(i, j, values + 1j, b + 0j)),
    }
