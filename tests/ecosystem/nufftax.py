"""Nufftax: non-uniform Fourier transforms of all types, and gradients."""

import jax
import jax.numpy as jnp
from nufftax import nufft1d1, nufft1d2, nufft2d1


def run():
    k = jax.random.split(jax.random.key(0), 4)
    x = jax.random.uniform(k[0], (40,), minval=-3, maxval=3)
    y = jax.random.uniform(k[1], (40,), minval=-3, maxval=3)
    c = jax.random.normal(k[2], (40,)) + 1j * jax.random.normal(k[3], (40,))
    f = nufft1d1(x, c, n_modes=32, eps=1e-5)
    out = {
        "type 1": f,
        "type 2": nufft1d2(x, f, eps=1e-5),
        "plane": nufft2d1(x, y, c, n_modes=(16, 12), eps=1e-5),
        "grad c": jax.grad(lambda c: jnp.sum(jnp.abs(nufft1d1(x, c, n_modes=32)) ** 2))(c),
        "grad x": jax.grad(lambda x: jnp.sum(jnp.abs(nufft1d1(x, c, n_modes=32)) ** 2))(x),
        "jit": jax.jit(lambda x, c: nufft1d1(x, c, n_modes=16))(x, c),
    }
    return {k: jnp.stack([v.real, v.imag]) for k, v in out.items()}
