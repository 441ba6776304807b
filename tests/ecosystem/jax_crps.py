"""JAX_CRPS: the score of ensembles, and its gradient."""

import jax
from JAX_CRPS.core import jax_crps, jax_crps_mean


def run():
    k = jax.random.split(jax.random.key(0), 2)
    obs = jax.random.normal(k[0], (6,))
    ens = jax.random.normal(k[1], (6, 9))
    return {
        "crps": jax_crps(obs, ens),
        "mean": jax_crps_mean(obs, ens.T, 0),
        "grad": jax.grad(lambda e: jax_crps_mean(obs, e))(ens),
    }
