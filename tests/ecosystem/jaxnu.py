"""Jaxnu: neutrino oscillations in vacuum, matter and through the Earth, and gradients."""

import jax
import jax.numpy as jnp
import jaxnu
from jaxnu import Flavor, nufit_no


def run():
    params = nufit_no()
    E = jnp.linspace(1.0, 25.0, 12)
    cz = jnp.linspace(-1.0, -0.05, 5)
    P = jaxnu.probability_earth(params, E, cz, flavor_in=Flavor.MU, flavor_out=Flavor.E)
    g = jax.grad(
        lambda p: jaxnu.probability_earth(
            p, jnp.asarray(4.0), jnp.asarray(-1.0), flavor_in=Flavor.MU, flavor_out=Flavor.E
        )
    )(params)
    return {
        "earth": P,
        "vacuum": jaxnu.probability_vacuum(params, E, baseline_km=295.0),
        "matter": jaxnu.probability_constant(params, E, baseline_km=1300.0, density=2.8, ye=0.5),
        "grad": [g.theta23, g.deltacp, g.theta13],
        "nsi": jaxnu.probability_constant(
            params, E, 1300.0, density=2.8, nsi=jaxnu.NSI(eps_emu=0.1 + 0.05j, eps_ee=0.05)
        ),
    }
