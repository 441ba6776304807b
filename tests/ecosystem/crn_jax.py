"""CRN-JAX: stochastic simulations of a network of chemical reactions."""

import jax
from crn_jax import models


def run():
    key, k = jax.random.split(jax.random.PRNGKey(0))
    x0 = jax.random.uniform(k, (8, len(models.repressilator.SPECIES)), minval=0.0, maxval=50.0)
    found = models.sample_trajectories(models.repressilator, key, x0, n_steps=60, dt=0.1)
    arrays = [x for x in jax.tree.leaves(found) if hasattr(x, "dtype")]
    return {"counts": [x.astype(float).ravel()[::97] for x in arrays]}
