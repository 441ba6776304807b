"""vbjax: networks of neural masses, one with noise, and a gradient through it."""

import jax
import jax.numpy as np
import vbjax as vb


def run():
    weights = jax.random.uniform(jax.random.key(0), (8, 8))

    def network(x, p):
        c = p[0] * (weights @ x[0])
        return vb.mpr_dfun(x, (c, 0), p[1])

    _, loop = vb.make_sde(0.01, network, 0.1, adhoc=vb.mpr_r_positive)
    noise = jax.random.normal(jax.random.key(1), (200, 2, 8))
    x0 = np.c_[0.1, -2.0].T + np.zeros((2, 8))

    def mean_rate(k):
        return loop(x0, noise, (k, vb.mpr_default_theta))[:, 0].mean()

    _, ode = vb.make_ode(0.1, lambda x, p: vb.jr_dfun(x, 0.1, p))
    return {
        "trajectory": jax.jit(lambda: loop(x0, noise, (0.1, vb.mpr_default_theta)))()[::20],
        "slope": jax.jit(jax.grad(mean_rate))(0.1),
        "ode": ode(np.ones(6) * 0.01, np.arange(50), vb.jr_default_theta)[::10],
    }
