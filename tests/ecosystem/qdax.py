"""qdax: an archive of diverse solutions of a test function, by MAP-Elites."""

import functools

import jax
import jax.numpy as jnp
from qdax.core.emitters.mutation_operators import isoline_variation
from qdax.core.emitters.standard_emitters import MixingEmitter
from qdax.core.map_elites import MAPElites
from qdax.tasks.standard_functions import rastrigin_scoring_function
from qdax.utils.metrics import default_qd_metrics


def run():
    key = jax.random.key(0)
    key, sub = jax.random.split(key)
    start = jax.random.uniform(sub, (32, 6))
    emitter = MixingEmitter(
        None, functools.partial(isoline_variation, iso_sigma=0.05, line_sigma=0.1), 1.0, 32
    )
    elites = MAPElites(
        rastrigin_scoring_function, emitter, functools.partial(default_qd_metrics, qd_offset=0.0)
    )
    x = jnp.linspace(0.0, 1.0, 5)
    centroids = jnp.stack(jnp.meshgrid(x, x), -1).reshape(-1, 2)
    repertoire, state, metrics = elites.init(start, centroids, key)
    (repertoire, state, key), metrics = jax.lax.scan(
        elites.scan_update, (repertoire, state, key), (), length=20
    )
    return {"about": metrics, "best": jnp.max(repertoire.fitnesses)}
