"""halox: the mass function of dark matter halos, a halo's profile, and derivatives in mass."""

import jax
import jax.numpy as jnp
from halox import cosmology, halo, hmf


def run():
    cosmo = cosmology.Planck18()
    mass = jnp.logspace(13, 15, 20)
    profile = halo.nfw.NFWHalo(1e14, 5.0, 0.0, cosmo)
    return {
        "function": jnp.log(hmf.tinker08_mass_function(mass, 0.5, cosmo)),
        "density": jnp.log(profile.density(jnp.logspace(-1, 1, 10))),
        "slope": jax.grad(lambda m: jnp.log(hmf.tinker08_mass_function(10.0**m, 0.5, cosmo)).sum())(
            14.0
        ),
    }
