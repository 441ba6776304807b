"""Nlls-gram: nonlinear least squares by Levenberg-Marquardt, and sensitivities of solutions."""

import jax
import jax.numpy as jnp
from nlls_gram import LevenbergMarquardt


def run():
    jax.config.update("jax_enable_x64", True)
    design = jax.random.normal(jax.random.key(0), (20, 4))
    y = jax.random.normal(jax.random.key(1), (20,))

    def residual(x, args, p):
        return jnp.tanh(args["design"] @ x) - p["target"] * 0.5

    solver = LevenbergMarquardt(residual)

    def solve(p):
        return solver.solve(jnp.zeros(4), {"design": design}, p=p, max_steps=200, atol=1e-8).x

    return {
        "x": solve({"target": y}),
        "grad": jax.grad(lambda p: jnp.sum(solve(p) ** 2))({"target": y})["target"],
    }
