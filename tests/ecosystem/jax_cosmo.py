"""jax-cosmo: distances, growth and spectra of cosmological models, and a gradient."""

import jax
import jax.numpy as jnp
import jax_cosmo as jc


def run():
    model = jc.Planck15()
    a, k = jnp.linspace(0.3, 1.0, 8), jnp.logspace(-3, 0, 8)

    def distance(matter):
        model = jc.Planck15(Omega_c=matter)
        return jc.background.angular_diameter_distance(model, jnp.array([0.5]))[0]

    return {
        "distance": jc.background.radial_comoving_distance(model, a),
        "growth": jc.background.growth_factor(model, a),
        "linear": jc.power.linear_matter_power(model, k),
        "nonlinear": jc.power.nonlinear_matter_power(model, k),
        "gradient": jax.grad(distance)(0.26),
    }
