"""bartz: Bayesian additive regression trees, sampled, and predictions."""

import jax
import jax.numpy as jnp
from bartz import Bart


def run():
    first, second = jax.random.split(jax.random.key(0))
    x = jax.random.uniform(first, (3, 60))
    y = jnp.sin(6 * x[0]) + x[1] ** 2 + 0.1 * jax.random.normal(second, (60,))
    bart = Bart(x, y, num_trees=10, n_save=20, n_burn=10, seed=1)
    return {"about fit": bart.predict("train").mean(), "about variance": y.var()}
