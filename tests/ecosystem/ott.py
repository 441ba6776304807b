"""ott: Sinkhorn between point clouds, and derivatives of the cost."""

import jax
import numpy as np
from ott.geometry import costs, pointcloud
from ott.problems.linear import linear_problem
from ott.solvers.linear import sinkhorn


def run():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12, 2)).astype(np.float32)
    y = rng.normal(size=(10, 2)).astype(np.float32) + 1

    def cost(x):
        geometry = pointcloud.PointCloud(x, y, epsilon=0.5)
        solved = sinkhorn.Sinkhorn()(linear_problem.LinearProblem(geometry))
        return solved.reg_ot_cost, solved

    (value, solved), gradient = jax.jit(jax.value_and_grad(cost, has_aux=True))(x)
    other = pointcloud.PointCloud(x, y, cost_fn=costs.Cosine(), epsilon=0.5)
    cosine = sinkhorn.Sinkhorn()(linear_problem.LinearProblem(other))
    return {
        "value": value,
        "gradient": gradient[:3],
        "marginal": solved.matrix.sum(1),
        "converged": solved.converged,
        "cosine": cosine.reg_ot_cost,
    }
