"""jax-morph: cells that move, press on each other, and divide."""

import jax
import jax_morph as jxm
from jax_morph.physics import BrownianDynamics, Division, SoftSphere


def run():
    model = jxm.Model(
        [BrownianDynamics(SoftSphere(), n_space_dim=2, kT=0.05), Division(n_space_dim=2)]
    )
    state = jxm.build_state_from_model(model).init_empty(capacity=16, n_space_dim=2, n_types=1)
    state = state.update(
        alive=state.alive.at[0].set(True),
        radius=state.radius.at[0].set(0.5),
        celltype=state.celltype.at[0, 0].set(1.0),
        division_rate=state.division_rate.at[0].set(1.0),
    )
    last = jxm.simulate(model, state, n_steps=20, dt=0.1, key=jax.random.PRNGKey(0))
    return {"alive": last.alive, "position": last.position, "radius": last.radius}
