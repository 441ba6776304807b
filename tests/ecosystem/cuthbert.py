"""cuthbert: a linear Gaussian model, filtered and smoothed, by scans of both kinds."""

import jax
import jax.numpy as jnp
from cuthbert import filter as run_filter
from cuthbert import smoother as run_smoother
from cuthbert.gaussian import kalman


def run():
    steps = 30
    times = jnp.arange(1, steps + 1)
    observed = jnp.sin(0.3 * times)[:, None] + 0.1 * jax.random.normal(
        jax.random.key(0), (steps, 1)
    )

    def model(noise):
        matrix = jnp.array([[1.0, 0.1], [0.0, 1.0]])
        return (
            lambda i: (matrix, jnp.zeros(2), noise * jnp.eye(2)),
            lambda i: (jnp.array([[1.0, 0.0]]), jnp.zeros(1), 0.1 * jnp.eye(1), observed[i]),
        )

    def filtered(noise, parallel):
        dynamics, observation = model(noise)
        inference = kalman.build_filter(jnp.zeros(2), jnp.eye(2), dynamics, observation)
        inputs = jnp.arange(steps)
        first = inference.init_prepare()
        return run_filter(inference, inputs, first, parallel=parallel)

    found = {}
    for parallel in (False, True):
        states = filtered(0.2, parallel)
        found[f"{parallel}: means"] = states.mean
        found[f"{parallel}: likelihood"] = jax.value_and_grad(
            lambda noise, p=parallel: filtered(noise, p).log_normalizing_constant[-1]
        )(0.2)
        smoother = kalman.build_smoother(model(0.2)[0])
        smooth = run_smoother(smoother, states, parallel=parallel)
        found[f"{parallel}: smooth"] = smooth.mean
    return found
