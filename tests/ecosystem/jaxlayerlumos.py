"""jaxlayerlumos: the reflection of a stack of layers by angle and frequency, and a gradient."""

import jax
import jax.numpy as jnp
from jaxlayerlumos import stackrt_eps_mu, stackrt_n_k
from jaxlayerlumos.utils_materials import get_n_k


def run():
    frequencies = jnp.linspace(4e14, 7e14, 12)
    n_k = get_n_k(["Air", "TiO2", "Ag", "SiO2"], frequencies)
    thicknesses = jnp.array([0.0, 4e-8, 1.5e-8, 0.0])
    angles = jnp.array([0.0, 30.0, 60.0])

    def reflected(scale):
        r_te, _, r_tm, _ = stackrt_n_k(n_k, thicknesses * scale, frequencies, angles)
        return jnp.mean(r_te + r_tm)

    return {
        "n, k": [n_k.real, n_k.imag],
        "by n": stackrt_n_k(n_k, thicknesses, frequencies, angles),
        "by eps": stackrt_eps_mu(n_k**2, jnp.ones_like(n_k), thicknesses, frequencies, angles),
        "slope": jax.value_and_grad(reflected)(1.0),
    }
