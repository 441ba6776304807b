"""diffmah: the growth of dark matter halos, its derivatives, and a fit of one history."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from diffmah import DEFAULT_MAH_PARAMS, mah_singlehalo


def run():
    times = np.linspace(1.0, 13.8, 12)
    now = np.log10(13.8)
    rates, masses = mah_singlehalo(DEFAULT_MAH_PARAMS, times, now)
    found = type(DEFAULT_MAH_PARAMS)(*(jnp.asarray(p * 1.05) for p in DEFAULT_MAH_PARAMS))

    def loss(params):
        return jnp.mean((mah_singlehalo(params, times, now)[1] - masses) ** 2)

    optimizer = optax.adam(2e-2)
    state = optimizer.init(found)
    step = jax.jit(jax.value_and_grad(loss))
    losses = []
    for _ in range(20):
        value, slopes = step(found)
        updates, state = optimizer.update(slopes, state)
        found = optax.apply_updates(found, updates)
        losses.append(value)
    slopes = jax.grad(lambda p: mah_singlehalo(p, times, now)[1].sum())(DEFAULT_MAH_PARAMS)
    return {"rates": rates, "masses": masses, "slopes": slopes, "losses": losses, "fit": found}
