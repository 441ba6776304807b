"""hj-reachability: the states in which an aircraft cannot avoid another."""

import hj_reachability as hj
import jax.numpy as jnp
import numpy as np


def run():
    box = hj.sets.Box(np.array([-6.0, -10.0, 0.0]), np.array([20.0, 10.0, 2 * np.pi]))
    grid = hj.Grid.from_lattice_parameters_and_boundary_conditions(
        box, (15, 12, 14), periodic_dims=2
    )
    values = jnp.linalg.norm(grid.states[..., :2], axis=-1) - 5
    settings = hj.SolverSettings.with_accuracy(
        "high", hamiltonian_postprocessor=hj.solver.backwards_reachable_tube
    )
    found = hj.step(settings, hj.systems.Air3d(), grid, 0.0, values, -0.5, progress_bar=False)
    return {
        "values": found[::3, ::3, ::3],
        "gradient": grid.grad_values(found)[::5, ::5, ::5],
    }
