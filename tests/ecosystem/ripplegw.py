"""ripplegw: a gravitational wave of two black holes in frequency, and its derivative in mass."""

import jax
import jax.numpy as jnp
import ripplegw


def run():
    wave = ripplegw.waveform("IMRPhenomD")
    values = {
        "M_c": 28.0,
        "eta": 0.24,
        "s1_z": 0.3,
        "s2_z": -0.2,
        "d_L": 440.0,
        "t_c": 0.0,
        "phase_c": 0.1,
        "iota": 0.4,
    }
    values = {k: v for k, v in values.items() if k in wave.parameter_names}
    f = jnp.linspace(24.0, 512.0, 200)

    def power(mass):
        made = wave(f, {**values, "M_c": mass})
        leaves = jax.tree.leaves(made)
        return 1e42 * sum(jnp.sum(jnp.abs(x) ** 2) for x in leaves)

    made = wave(f, values)
    return {
        "amplitude": [1e22 * jnp.abs(x) for x in jax.tree.leaves(made)],
        "power": power(28.0),
        "slope": jax.grad(power)(28.0),
    }
