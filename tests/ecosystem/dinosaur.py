"""Dinosaur: spectral transforms on a sphere, there and back, and a gradient through them."""

import jax
import jax.numpy as jnp
import numpy as np
from dinosaur import spherical_harmonic


def run():
    grid = spherical_harmonic.Grid.T21()
    longitude, latitude = grid.nodal_mesh
    field = jnp.asarray(np.cos(longitude) * np.cos(latitude) ** 2 + np.sin(latitude))
    modal = grid.to_modal(field)
    power = lambda m: jnp.sum(grid.to_nodal(m) ** 3)
    return {
        "modal": modal[::4, ::4],
        "back": grid.to_nodal(modal)[::8, ::4],
        "laplacian": grid.to_nodal(grid.laplacian(modal))[::8, ::4],
        "cos_lat_grad": jnp.stack(grid.cos_lat_grad(modal))[:, ::4, ::4],
        "slope": jax.jit(jax.grad(power))(modal)[::4, ::4],
        "integral": grid.integrate(field),
    }
