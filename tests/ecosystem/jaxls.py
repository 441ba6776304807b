"""Jaxls: a graph of poses, by sparse least squares on a manifold."""

import jax.numpy as jnp
import jaxlie
import jaxls


def run():
    class Pose(
        jaxls.Var[jaxlie.SE2],
        default_factory=jaxlie.SE2.identity,
        tangent_dim=3,
        retract_fn=lambda p, d: p @ jaxlie.SE2.exp(d),
    ): ...

    n = 8
    step = jaxlie.SE2.from_xy_theta(1.0, 0.1, 2 * jnp.pi / n)

    @jaxls.Cost.factory
    def prior(vals, var, target):
        return (vals[var].inverse() @ target).log() * 10.0

    @jaxls.Cost.factory
    def between(vals, a, b, delta):
        return ((vals[a].inverse() @ vals[b]).inverse() @ delta).log()

    costs = [prior(Pose(0), jaxlie.SE2.identity())]
    costs += [between(Pose(i), Pose((i + 1) % n), step) for i in range(n)]
    variables = [Pose(i) for i in range(n)]
    problem = jaxls.LeastSquaresProblem(costs, variables).analyze()
    sol = problem.solve(verbose=False)
    poses = jnp.stack([sol[v].parameters() for v in variables])
    dense = problem.solve(verbose=False, linear_solver="dense_cholesky")
    return {"poses": poses, "dense": jnp.stack([dense[v].translation() for v in variables])}
