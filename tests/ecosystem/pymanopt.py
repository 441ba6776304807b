"""Pymanopt: dominant eigenvectors and a low-rank approximation, on manifolds."""

import jax.numpy as jnp
import numpy as np
import pymanopt


def run():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(8, 8))
    A = (A + A.T) / 2
    sphere = pymanopt.manifolds.Sphere(8)

    @pymanopt.function.jax(sphere)
    def cost(x):
        return -x @ A @ x

    grassmann = pymanopt.manifolds.Stiefel(8, 2)

    @pymanopt.function.jax(grassmann)
    def trace(x):
        return -jnp.trace(x.T @ A @ x)

    start = np.eye(8)[:, :2]
    problem = pymanopt.Problem(sphere, cost)
    best = pymanopt.optimizers.SteepestDescent(verbosity=0).run(problem, initial_point=start[:, 0])
    other = pymanopt.Problem(grassmann, trace)
    plane = pymanopt.optimizers.TrustRegions(verbosity=0).run(other, initial_point=start)
    return {"cost": best.cost, "point": np.abs(best.point), "trace": plane.cost}
