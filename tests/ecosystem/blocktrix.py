"""Blocktrix: block tridiagonal systems by cyclic reduction and Thomas's method, and a gradient."""

import jax
import jax.numpy as jnp
from blocktrix import (
    random_block_tridiagonal,
    solve_block_tridiagonal_bcyclic,
    solve_block_tridiagonal_thomas,
)


def run():
    n, m = 8, 3
    lower, diag, upper, rhs = random_block_tridiagonal(jax.random.PRNGKey(42), n, m)
    x = solve_block_tridiagonal_bcyclic(n, lower, diag, upper, rhs)

    def size(diag):
        return jnp.sum(solve_block_tridiagonal_bcyclic(n, lower, diag, upper, rhs) ** 2)

    return {
        "x": x,
        "grad": jax.grad(size)(diag),
        "thomas": solve_block_tridiagonal_thomas(n, lower, diag, upper, rhs),
    }
