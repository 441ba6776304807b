"""Jaxley: a cell of several branches with channels, and a gradient through its simulation."""

import jax
import jax.numpy as jnp
import jaxley as jx
from jaxley.channels import HH


def run():
    jax.config.update("jax_enable_x64", True)
    cell = jx.Cell(jx.Branch(jx.Compartment(), ncomp=2), parents=[-1, 0, 0])
    cell.insert(HH())
    current = jx.step_current(i_delay=0.5, i_dur=1.0, i_amp=0.1, delta_t=0.025, t_max=3.0)
    cell.branch(0).loc(0.0).stimulate(current)
    cell.branch(2).loc(1.0).record()
    cell.make_trainable("radius")
    params = cell.get_parameters()

    def loss(params):
        return jnp.mean(jx.integrate(cell, params=params, delta_t=0.025) ** 2)

    return {
        "voltage": jx.integrate(cell, delta_t=0.025)[0, ::10],
        "slope": jax.jit(jax.grad(loss))(params),
    }
