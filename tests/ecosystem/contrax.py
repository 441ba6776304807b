"""Contrax: the gains of a linear regulator, and a gradient of the cost of its closed loop."""

import contrax as cx
import jax
import jax.numpy as jnp


def run():
    jax.config.update("jax_enable_x64", True)
    A = jnp.array([[1.0, 0.05], [0.0, 1.0]])
    B = jnp.array([[0.0], [0.05]])
    system = cx.dss(A, B, jnp.eye(2), jnp.zeros((2, 1)), dt=0.05)
    x0 = jnp.array([1.0, 0.0])

    def cost(log_q, log_r):
        K = cx.lqr(system, jnp.diag(jnp.exp(log_q)), jnp.exp(log_r)[None, None]).K
        _, xs, _ = cx.simulate(system, x0, lambda t, x: -K @ x, num_steps=80)
        return jnp.sum(xs**2) + 1e-2 * jnp.sum((xs[:-1] @ K.T) ** 2)

    value, slopes = jax.jit(jax.value_and_grad(cost, argnums=(0, 1)))(jnp.zeros(2), jnp.array(0.0))
    return {"cost": value, "slopes": slopes, "poles": jnp.abs(cx.poles(system))}
