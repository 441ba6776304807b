"""dm-haiku: a transformed network with state, trained; a recurrent core."""

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


def network(x, is_training):
    x = hk.Conv2D(4, 3)(x)
    x = hk.BatchNorm(True, True, 0.9)(x, is_training)
    x = hk.Flatten()(jax.nn.relu(x))
    return hk.nets.MLP([16, 3])(x)


def run():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(8, 6, 6, 1)).astype(np.float32)
    y = rng.integers(0, 3, 8)
    forward = hk.transform_with_state(network)
    params, state = forward.init(jax.random.PRNGKey(0), x, True)
    optimizer = optax.adam(1e-2)
    slots = optimizer.init(params)

    @jax.jit
    def step(params, state, slots):
        def loss(params):
            logits, after = forward.apply(params, state, None, x, True)
            values = optax.softmax_cross_entropy_with_integer_labels(logits, y)
            return values.mean(), after

        (value, state_), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, slots_ = optimizer.update(grads, slots)
        return optax.apply_updates(params, updates), state_, slots_, value

    losses = []
    for _ in range(8):
        params, state, slots, value = step(params, state, slots)
        losses.append(value)

    def unrolled(xs):
        core = hk.LSTM(4)
        return hk.dynamic_unroll(core, xs, core.initial_state(2))[0]

    recurrent = hk.without_apply_rng(hk.transform(unrolled))
    xs = rng.normal(size=(5, 2, 3)).astype(np.float32)
    weights = recurrent.init(jax.random.PRNGKey(1), xs)
    return {"losses": losses, "recurrent": jnp.sum(recurrent.apply(weights, xs), (0, 1))}
