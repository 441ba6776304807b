"""Jax-sysid: a linear state-space model, identified by Adam and L-BFGS-B."""

import jax.numpy as jnp
import numpy as np
from jax_sysid.models import LinearModel


def run():
    rng = np.random.default_rng(0)
    A = np.array([[0.8, 0.1], [-0.2, 0.7]])
    B = np.array([[1.0], [0.5]])
    C = np.array([[1.0, -1.0]])
    U = rng.standard_normal((100, 1))
    X = np.zeros(2)
    Y = np.zeros((100, 1))
    for k in range(100):
        Y[k] = C @ X
        X = A @ X + B[:, 0] * U[k]
    m = LinearModel(2, 1, 1, feedthrough=False)
    m.loss(rho_x0=1e-3, rho_th=1e-3)
    m.optimization(adam_epochs=100, lbfgs_epochs=50)
    m.fit(Y, U)
    Yh, _ = m.predict(m.x0, U)
    return {"about error": jnp.mean((Yh - Y) ** 2), "first": jnp.asarray(Yh[:5])}
