"""Linox: linear operators, their solves and traces, and a gradient through a solve."""

import jax
import jax.numpy as jnp
import linox


def run():
    keys = jax.random.split(jax.random.key(0), 2)
    m = jax.random.normal(keys[0], (6, 6))
    a = linox.Matrix(m @ m.T + 6 * jnp.eye(6))
    d = linox.Diagonal(jnp.arange(1.0, 7.0))
    small = linox.Matrix(jnp.array([[2.0, 1.0], [1.0, 3.0]]))
    k = linox.Kronecker(small, linox.Matrix(m[:3, :3] @ m[:3, :3].T + jnp.eye(3)))
    v = jax.random.normal(keys[1], (6,))
    return {
        "sum": (a + d) @ v,
        "product": (a @ d) @ v,
        "kronecker": k @ v,
        "solve": [linox.lsolve(a, v), linox.lsolve(d, v)],
        "trace": linox.ltrace(k),
        "dense": (2.0 * a).todense(),
        "inverse": linox.linverse(k) @ v,
        "slope": jax.grad(lambda s: jnp.sum(linox.lsolve(linox.Matrix(s * a.todense()), v)))(1.5),
    }
