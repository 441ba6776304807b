"""jaxopt: unconstrained, projected and implicit problems."""

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def run():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20, 3)).astype(np.float32)
    y = x @ np.array([1.0, -2.0, 0.5], np.float32)

    def ridge(w, penalty):
        return jnp.mean((x @ w - y) ** 2) + penalty * jnp.sum(w**2)

    start = jnp.zeros(3)
    lbfgs = jaxopt.LBFGS(fun=ridge, maxiter=30).run(start, 0.1).params
    descent = jaxopt.GradientDescent(fun=ridge, maxiter=100).run(start, 0.1).params
    projected = jaxopt.ProjectedGradient(
        fun=ridge, projection=jaxopt.projection.projection_non_negative, maxiter=100
    )
    clipped = projected.run(start, None, 0.1).params

    def through(penalty):
        solver = jaxopt.LBFGS(fun=ridge, maxiter=30, implicit_diff=True)
        return jnp.sum(solver.run(start, penalty).params)

    root = jaxopt.Bisection(lambda z: z**3 - z - 2, 1.0, 2.0, check_bracket=False).run().params
    return {
        "lbfgs": lbfgs,
        "descent": descent,
        "clipped": clipped,
        "through": jax.grad(through)(0.1),
        "root": root,
    }
