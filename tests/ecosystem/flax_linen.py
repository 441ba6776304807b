"""flax.linen: a convolutional network with batch norm and dropout, a recurrent one, and a scan."""

import flax.linen as nn
import jax
import numpy as np
import optax
from flax.training import train_state


class Network(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Conv(8, (3, 3))(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.avg_pool(nn.relu(x), (2, 2), (2, 2)).reshape(x.shape[0], -1)
        x = nn.Dropout(0.2, deterministic=not train)(nn.LayerNorm()(nn.Dense(16)(x)))
        return nn.Dense(4)(x)


class State(train_state.TrainState):
    statistics: dict


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        return x + nn.Dense(x.shape[-1])(nn.gelu(x)), x.mean()


class Stack(nn.Module):
    @nn.compact
    def __call__(self, x):
        layers = nn.scan(
            nn.remat(Block), variable_axes={"params": 0}, split_rngs={"params": True}, length=3
        )
        x, means = layers()(x, None)
        x = nn.RNN(nn.LSTMCell(8))(x)
        return nn.MultiHeadDotProductAttention(num_heads=2)(x, x), means


def run():
    rng = np.random.default_rng(0)
    images = rng.normal(size=(8, 8, 8, 1)).astype(np.float32)
    labels = rng.integers(0, 4, 8)
    network = Network()
    variables = network.init(jax.random.key(0), images, train=False)
    state = State.create(
        apply_fn=network.apply,
        params=variables["params"],
        tx=optax.adam(1e-2),
        statistics=variables["batch_stats"],
    )

    @jax.jit
    def step(state, key):
        def loss(params):
            logits, updates = state.apply_fn(
                {"params": params, "batch_stats": state.statistics},
                images,
                train=True,
                rngs={"dropout": key},
                mutable=["batch_stats"],
            )
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
            return losses.mean(), updates["batch_stats"]

        (value, statistics), grads = jax.value_and_grad(loss, has_aux=True)(state.params)
        return state.apply_gradients(grads=grads, statistics=statistics), value

    values = []
    for i in range(8):
        state, value = step(state, jax.random.key(i))
        values.append(value)
    x = rng.normal(size=(2, 5, 8)).astype(np.float32)
    (y, means), _ = Stack().init_with_output(jax.random.key(1), x)
    return {"losses": values, "stack": y[0, 0], "means": means}
