"""Jaxwavelets: decompositions of several dimensions, packets' modes, and gradients."""

from functools import partial

import jax
import jax.numpy as jnp
import jaxwavelets as wt


def run():
    x = jax.random.normal(jax.random.key(0), (12, 12))
    out = {}
    for name in ("db4", "sym3"):
        c = wt.wavedecn(x, name, level=2)
        out[name] = jax.tree.leaves(c)
        out["back " + name] = wt.waverecn(c, name)
    for mode in ("symmetric", "periodization", "reflect"):
        out[mode] = jax.tree.leaves(wt.wavedecn(x[0], "db2", mode=mode, level=2))
    batch = jnp.stack([x, x.T])
    out["batch"] = jax.tree.leaves(jax.vmap(partial(wt.wavedecn, wavelet="db4", level=2))(batch))
    out["grad"] = jax.jit(
        jax.vmap(
            jax.grad(lambda x: jnp.sum(wt.waverecn(wt.wavedecn(x, "db4", level=2), "db4") ** 2))
        )
    )(batch)
    return out
