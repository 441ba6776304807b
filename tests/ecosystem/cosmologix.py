"""Cosmologix: distances, densities and their derivatives in cosmological parameters."""

import jax
import jax.numpy as jnp
from cosmologix import distances, parameters


def run():
    p = parameters.get_cosmo_params("Planck18")
    z = jnp.linspace(0.1, 1.0, 10)

    def mu(om, w):
        return distances.mu(dict(p, Omega_bc=om, w=w), z)

    fit = jax.jacfwd(mu, (0, 1))(0.3, -1.0)
    return {
        "mu": distances.mu(p, z),
        "dM": distances.dM(p, z),
        "H": distances.H(p, z),
        "jacobian": fit,
        "grad": jax.jit(jax.grad(lambda om: jnp.sum(mu(om, -0.9))))(0.3),
    }
