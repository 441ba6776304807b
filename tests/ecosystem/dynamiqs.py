"""Dynamiqs: Schrodinger's and Lindblad's equations of an oscillator, and a gradient."""

import dynamiqs as dq
import jax
import jax.numpy as jnp


def run():
    dq.set_progress_meter(False)
    n = 6
    a = dq.destroy(n)
    times = jnp.linspace(0.0, 1.0, 5)
    psi = dq.coherent(n, 1.0)

    def photons(kappa):
        found = dq.mesolve(a.dag() @ a, [jnp.sqrt(kappa) * a], psi, times, exp_ops=[a.dag() @ a])
        return found.expects[0, -1].real

    closed = dq.sesolve(a + a.dag(), psi, times, exp_ops=[a.dag() @ a])
    return {
        "photons": photons(0.5),
        "slope": jax.grad(photons)(0.5),
        "closed": closed.expects.real,
        "state": jnp.abs(closed.states[-1].to_jax()),
    }
