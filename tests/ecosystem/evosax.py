"""evosax: an evolution strategy on a test function."""

import jax
import jax.numpy as jnp
from evosax.algorithms import CMA_ES


def run():
    strategy = CMA_ES(population_size=12, solution=jnp.zeros(3))
    params, key = strategy.default_params, jax.random.key(0)
    state = strategy.init(key, jnp.zeros(3), params)
    best = []
    for i in range(8):
        ask, tell = jax.random.split(jax.random.fold_in(key, i))
        population, state = strategy.ask(ask, state, params)
        fitness = jnp.sum((population - 1.0) ** 2, -1)
        state, metrics = strategy.tell(tell, population, fitness, state, params)
        best.append(metrics["best_fitness"])
    return {"best": best}
