"""Jaxmesh: an isosurface by marching tetrahedra."""

import jax.numpy as jnp
from jaxmesh import marching_tetrahedra, rectilinear_grid


def run():
    x = jnp.linspace(-1, 1, 9)
    coords = rectilinear_grid(x, x, x)
    field = jnp.sqrt(jnp.sum(coords**2, -1)) - 0.5
    mesh = marching_tetrahedra(field, coords, level=0.0)
    return {"leaves": [jnp.sort(jnp.asarray(a, float).ravel()) for a in [mesh.vertices]]}
