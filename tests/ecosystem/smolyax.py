"""smolyax: a function of several variables, interpolated on a sparse grid, and its integral."""

import jax
import jax.numpy as jnp
from smolyax import interpolation, nodes


def run():
    def f(x):
        return jnp.stack([jnp.exp(-jnp.sum(x**2, -1)), jnp.cos(x).sum(-1)], -1)

    found = interpolation.SmolyakBarycentricInterpolator(
        node_gen=nodes.Leja(dim=3), k=[1.0, 1.2, 1.4], t=4.0, d_out=2, f=f
    )
    x = jax.random.uniform(jax.random.key(0), (20, 3), minval=-1, maxval=1)
    return {"values": found(x), "integral": found.integral()}
