"""Isssm: a state space model, simulated, filtered and smoothed."""

import jax.random as jrn
from isssm.glssm import simulate_glssm
from isssm.kalman import kalman, smoother
from isssm.models.glssm import lcm


def run():
    model = lcm(20, 0.0, 1.0, 0.2, 0.5)
    (x,), (y,) = simulate_glssm(model, 1, jrn.PRNGKey(0))
    f = kalman(y, model)
    s = smoother(f, model.A)
    return {"x": x, "y": y, "filter": f.x_filt, "P": f.Xi_filt, "smooth": s.x_smooth}
