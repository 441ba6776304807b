"""phyjax2d: circles that fall, collide and come to rest on segments, in two dimensions."""

import jax
import jax.numpy as jnp
from phyjax2d import SpaceBuilder, Vec2d, step


def run():
    builder = SpaceBuilder(gravity=(0.0, -9.8), dt=0.02)
    for _ in range(4):
        builder.add_circle(radius=1.0, friction=0.2, elasticity=0.4, density=1.0)
    builder.add_segment(p1=Vec2d(-10.0, 0.0), p2=Vec2d(10.0, 0.0), friction=0.2)
    space = builder.build()
    state = space.shaped.zeros_state()
    xy = jnp.array([[0.0, 3.0], [0.5, 6.0], [-3.0, 2.0], [-2.0, 5.0]])
    state = state.nested_replace("circle.p.xy", xy)
    solver = space.init_solver()

    @jax.jit
    def simulate(state, solver):
        def one(carry, _):
            state, solver = carry
            state, solver, _ = step(space, state, solver)
            return (state, solver), state.circle.p.xy

        return jax.lax.scan(one, (state, solver), None, length=60)

    (state, _), track = simulate(state, solver)
    return {"track": track[::10], "last": state.circle.p.xy, "spin": state.circle.p.angle}
