"""jax-md: soft spheres, minimized, then simulated with Lennard-Jones forces."""

import jax
from jax_md import energy, minimize, simulate, space


def run():
    displacement, shift = space.periodic(6.0)
    soft = energy.soft_sphere_pair(displacement)
    begin, descend = minimize.fire_descent(soft, shift)
    state, descend = begin(jax.random.uniform(jax.random.key(0), (24, 3)) * 6.0), jax.jit(descend)
    for _ in range(30):
        state = descend(state)
    potential = energy.lennard_jones_pair(displacement)
    start, step = simulate.nve(potential, shift, 1e-3)
    fluid, step = start(jax.random.key(1), state.position, kT=0.1), jax.jit(step)
    for _ in range(10):
        fluid = step(fluid)
    return {
        "minimum": (soft(state.position), state.position),
        "position": fluid.position,
        "energy": potential(fluid.position),
        "forces": -jax.grad(potential)(fluid.position),
    }
