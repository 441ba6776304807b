"""Linrax: linear programs by the simplex method, batched."""

import jax
import jax.numpy as jnp
from linrax.optim import linprog


def run():
    c = jnp.array([-3.0, -5.0])
    A = jnp.array([[1.0, 0.0], [0.0, 2.0], [3.0, 2.0]])
    b = jnp.array([4.0, 12.0, 18.0])
    sol, kind = linprog(c, A, b)
    batch = jax.vmap(lambda b: linprog(c, A, b)[0].x[:2])(jnp.stack([b, b * 1.5, b + 1]))
    eq, k2 = linprog(
        jnp.array([1.0, 2.0, 0.5]), A_eq=jnp.array([[1.0, 1.0, 1.0]]), b_eq=jnp.array([2.0])
    )
    return {
        "x": sol.x,
        "fun": sol.fun,
        "kind": [kind.feasible, kind.bounded],
        "batch": batch,
        "eq": eq.x,
        "k2": k2.success,
    }
