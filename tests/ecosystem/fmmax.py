"""fmmax: the transmission of a grating by the Fourier modal method, and its gradient."""

import fmmax
import jax
import jax.numpy as jnp


def run():
    lattice = fmmax.LatticeVectors(u=0.7 * fmmax.X, v=0.7 * fmmax.Y)
    expansion = fmmax.generate_expansion(
        lattice, approximate_num_terms=12, truncation=fmmax.Truncation.CIRCULAR
    )
    wavelength, k = jnp.asarray(0.6), jnp.zeros((2,))
    x, y = fmmax.unit_cell_coordinates(lattice, shape=(24, 24), num_unit_cells=(1, 1))
    disc = jax.nn.sigmoid(40.0 * (0.2 - jnp.sqrt((x - 0.35) ** 2 + (y - 0.35) ** 2)))

    def solve(permittivity):
        return fmmax.eigensolve_isotropic_media(
            wavelength, k, lattice, permittivity, expansion, formulation=fmmax.Formulation.FFT
        )

    @jax.jit
    def transmitted(index):
        layers = [
            solve(jnp.full((1, 1), 1.0 + 0j)),
            solve(1.0 + (index**2 - 1.0) * disc + 0j),
            solve(jnp.full((1, 1), 2.1 + 0j)),
        ]
        thick = [jnp.asarray(0.0), jnp.asarray(0.3), jnp.asarray(0.0)]
        matrix = fmmax.stack_s_matrix(layers, thick)
        return jnp.sum(jnp.abs(matrix.s11[:, 0]) ** 2)

    value, slope = jax.value_and_grad(transmitted)(jnp.asarray(1.8))
    return {"transmitted": value, "slope": slope}
