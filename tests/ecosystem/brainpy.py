"""BrainPy: integrate-and-fire neurons, driven and simulated, and an equation by Runge-Kutta."""

import brainpy as bp
import brainpy.math as bm
import jax.numpy as jnp


def run():
    bm.random.seed(1)
    neurons = bp.dyn.LifRef(
        20,
        V_rest=-60.0,
        V_th=-50.0,
        V_reset=-60.0,
        tau=20.0,
        tau_ref=5.0,
        V_initializer=bp.init.Constant(-55.0),
    )
    runner = bp.DSRunner(neurons, monitors=["V", "spike"], progress_bar=False)
    runner.run(inputs=bm.ones((200, 20)) * bm.linspace(12.0, 30.0, 20))
    integral = bp.odeint(lambda V, t, given: (given - V) / 10.0, method="rk4")
    values = [integral(1.0, t * 0.1, 5.0, dt=0.1) for t in range(3)]
    return {
        "V": jnp.asarray(runner.mon.V)[::20],
        "spikes": jnp.asarray(runner.mon.spike).sum(0),
        "ode": [bm.as_jax(v) for v in values],
    }
