"""tsnex: an embedding of three groups of points in the plane, by neighbors."""

import jax
import jax.numpy as jnp
import tsnex


def run():
    x = jax.random.normal(jax.random.key(0), (60, 8)) + 6 * (jnp.arange(60)[:, None] % 3)
    y = tsnex.transform(x, n_components=2, perplexity=15.0, n_iter=60)
    apart = jnp.linalg.norm(y[:, None] - y[None], axis=-1)
    return {"first": apart[0], "about all": jnp.mean(apart)}
