"""Lyapax: Lyapunov exponents of Lorenz's system, and its fractal dimension."""

import jax
import jax.numpy as jnp
from lyapax import kaplan_yorke_dimension, lyapunov_spectrum, ode_problem


def run():
    jax.config.update("jax_enable_x64", True)

    def rhs(s):
        x, y, z = s
        return jnp.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])

    problem = ode_problem(rhs, state0=jnp.array([1.0, 1.0, 1.0]), dt=1e-2)
    r = lyapunov_spectrum(problem, n_steps=500, renorm_every=10, t_transient=1.0)
    long = lyapunov_spectrum(problem, n_steps=10000, renorm_every=10, t_transient=10.0)
    return {
        "short": r.exponents,
        "about long": long.exponents[::2],
        "about dimension": kaplan_yorke_dimension(long.exponents),
    }
