"""Staaax: scattering matrices of layers, and branches of square roots."""

import jax
import jax.numpy as jnp
import numpy as np
import staaax


def run():
    k0 = 2 * np.pi / 1.5
    kx = k0 * np.sin(np.deg2rad(20))
    out = {}
    for pol in "sp":
        stack, _ = staaax.stratified([1, 0.5], [1, 2, 3 + 0.001j, 1], k0, kx, pol=pol)
        out[pol] = [jnp.stack([s.real, s.imag]) for s in jax.tree.leaves(stack())]
    return out
