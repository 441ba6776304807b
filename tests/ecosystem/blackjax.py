"""blackjax: Hamiltonian Monte Carlo and NUTS of a Gaussian."""

import blackjax
import jax
import jax.numpy as jnp


def run():
    def logdensity(x):
        return -0.5 * jnp.sum((x - jnp.array([1.0, -2.0])) ** 2 / jnp.array([1.0, 0.25]))

    inverse = jnp.ones(2)
    hmc = blackjax.hmc(logdensity, 0.2, inverse, 8)
    nuts = blackjax.nuts(logdensity, 0.3, inverse)

    def chain(algorithm, steps, key):
        def step(state, key):
            state, info = algorithm.step(key, state)
            return state, (state.position, info.acceptance_rate)

        start = algorithm.init(jnp.zeros(2))
        return jax.jit(lambda keys: jax.lax.scan(step, start, keys)[1])(
            jax.random.split(key, steps)
        )

    xs, rates = chain(hmc, 40, jax.random.key(0))
    ys, _ = chain(nuts, 200, jax.random.key(1))
    return {"hmc": xs[:3], "rates": rates[:3], "about nuts": ys[20:].mean(0)}
