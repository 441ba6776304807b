"""latticebmjax: a shear wave by the lattice Boltzmann method, its decay, and a gradient."""

import jax
import jax.numpy as jnp
from latticebmjax import bgk_collision, calc_equilibrium, macroscopic, stream, tau_from_viscosity


def run():
    y = jnp.arange(32)
    wave = 0.05 * jnp.sin(2 * jnp.pi * y / 32)
    u = jnp.stack([jnp.broadcast_to(wave, (16, 32)), jnp.zeros((16, 32))])
    start = calc_equilibrium(jnp.ones((16, 32)), u)

    @jax.jit
    def simulate(f, nu):
        def step(f, _):
            rho, vel = macroscopic(f)
            f = stream(bgk_collision(f, rho, vel, tau_from_viscosity(nu)))
            return f, jnp.sum(vel**2)

        return jax.lax.scan(step, f, None, length=40)

    last, energy = simulate(start, 0.1)
    slope = jax.grad(lambda nu: simulate(start, nu)[1][-1])(0.1)
    return {"velocity": macroscopic(last)[1][:, :4], "energy": energy, "slope": slope}
