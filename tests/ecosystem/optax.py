"""optax: a small network by several optimizers."""

import jax
import jax.numpy as jnp
import numpy as np
import optax


def run():
    x = np.random.default_rng(0).normal(size=(32, 4)).astype(np.float32)
    y = np.sin(x).sum(1)
    keys = jax.random.split(jax.random.key(0))
    start = {
        "w": 0.5 * jax.random.normal(keys[0], (4, 16)),
        "b": jnp.zeros(16),
        "v": 0.5 * jax.random.normal(keys[1], (16,)),
    }

    def loss(p):
        return jnp.mean(optax.l2_loss(jnp.tanh(x @ p["w"] + p["b"]) @ p["v"], y))

    schedule = optax.warmup_cosine_decay_schedule(0.0, 0.02, 5, 40)
    optimizers = {
        "adamw": optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule)),
        "sgd": optax.sgd(0.1, momentum=0.9, nesterov=True),
        "lion": optax.lion(1e-3),
        "rmsprop": optax.rmsprop(0.01),
        "multi": optax.MultiSteps(optax.adam(0.02), every_k_schedule=2),
    }
    found = {}
    for name, optimizer in optimizers.items():

        @jax.jit
        def step(p, state, optimizer=optimizer):
            value, grads = jax.value_and_grad(loss)(p)
            updates, state = optimizer.update(grads, state, p)
            return optax.apply_updates(p, updates), state, value

        p, state = start, optimizer.init(start)
        for _ in range(20):
            p, state, value = step(p, state)
        found[name] = value
    return found
