"""Anchorax: fixed points of an implicit layer by three solvers."""

import equinox as eqx
import jax
import jax.numpy as jnp
from anchorax.solvers import anderson, broyden, picard


class Block(eqx.Module):
    w: jnp.ndarray

    def __call__(self, u, given, *, inference=False, key=None):
        return jnp.tanh(u @ self.w + given)


def run():
    block = Block(jax.random.normal(jax.random.PRNGKey(0), (32, 32)) * 0.1)
    params, static = eqx.partition(block, eqx.is_array)
    given, key = jnp.linspace(-1, 1, 32), jax.random.PRNGKey(42)
    return {
        solver.__name__: solver(params, static, given, inference=True, key=key)[0]
        for solver in (picard, broyden, anderson)
    }
