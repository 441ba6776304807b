"""SLSQP-JAX: constrained minima by sequential quadratic programming."""

import jax.numpy as jnp
import optimistix as optx
from slsqp_jax import SLSQP, SLSQPConfig, ToleranceConfig


def run():
    solver = SLSQP(
        eq_constraint_fn=lambda x, a: jnp.array([x[0] + x[1] - 1.0]),
        n_eq_constraints=1,
        ineq_constraint_fn=lambda x, a: jnp.array([0.2 - x[0]]),
        n_ineq_constraints=1,
        config=SLSQPConfig(tolerance=ToleranceConfig(rtol=1e-6)),
    )
    sol = optx.minimise(
        lambda x, a: (jnp.sum(x**2), None),
        solver,
        jnp.array([0.5, 0.5]),
        has_aux=True,
        max_steps=100,
        throw=False,
    )
    rosen = lambda x, a: (jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), None)
    s2 = SLSQP(
        ineq_constraint_fn=lambda x, a: jnp.array([1.5 - jnp.sum(x**2)]),
        n_ineq_constraints=1,
        config=SLSQPConfig(tolerance=ToleranceConfig(rtol=1e-5)),
    )
    sol2 = optx.minimise(
        rosen, s2, jnp.array([0.1, 0.2, 0.3]), has_aux=True, max_steps=100, throw=False
    )
    return {"x": sol.value, "rosen": sol2.value}
