"""Finslerax: a geodesic of a Randers metric, and its length with and against the wind."""

import jax.numpy as jnp
from finslerax.geometry import EuclideanSpace, Randers
from finslerax.solvers import AVBDSolver


def run():
    metric = Randers(
        EuclideanSpace(dim=2),
        h_net=lambda x: jnp.eye(2),
        w_net=lambda x: jnp.array([0.3, 0.0]) * (1 + 0.1 * x[1]),
    )
    ends = jnp.array([0.0, 0.0]), jnp.array([1.0, 1.0])
    points = AVBDSolver(iterations=50).solve(metric, *ends, n_steps=20).xs
    return {
        "points": points,
        "lengths": [metric.arc_length(points), metric.arc_length(points[::-1])],
    }
