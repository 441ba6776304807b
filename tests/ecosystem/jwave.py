"""j-Wave: an acoustic wave of an initial pressure, and its gradient in the speed of sound."""

import jax
import jax.numpy as jnp
from jwave import FourierSeries
from jwave.acoustics.time_varying import simulate_wave_propagation
from jwave.geometry import Domain, Medium, TimeAxis


def run():
    domain = Domain((32, 32), (0.1e-3, 0.1e-3))
    time_axis = TimeAxis.from_medium(Medium(domain=domain, sound_speed=1500.0), cfl=0.3, t_end=1e-6)
    x, y = jnp.mgrid[:32, :32]
    p0 = FourierSeries(jnp.exp(-((x - 14) ** 2 + (y - 17) ** 2) / 8.0)[..., None], domain)

    @jax.jit
    def final(speed):
        medium = Medium(domain=domain, sound_speed=speed)
        return simulate_wave_propagation(medium, time_axis, p0=p0)[-1].on_grid

    speed = 1500.0
    return {
        "pressure": final(speed),
        "slope": jax.grad(lambda c: jnp.sum(final(c) ** 2))(speed),
    }
