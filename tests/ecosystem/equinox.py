"""equinox: an MLP by filtered transformations, a recurrent network, checkpointed loops, errors."""

import equinox as eqx
import equinox.internal as eqxi
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Recurrent(eqx.Module):
    cell: eqx.nn.GRUCell
    readout: eqx.nn.Linear
    size: int = eqx.field(static=True)

    def __init__(self, size, key):
        a, b = jax.random.split(key)
        self.cell = eqx.nn.GRUCell(2, size, key=a)
        self.readout = eqx.nn.Linear(size, 1, key=b)
        self.size = size

    def __call__(self, xs):
        def step(state, x):
            return self.cell(x, state), None

        state, _ = jax.lax.scan(step, jnp.zeros(self.size), xs)
        return self.readout(state)[0]


def run():
    rng = np.random.default_rng(0)
    xs = rng.normal(size=(16, 5, 2)).astype(np.float32)
    ys = xs[:, :, 0].sum(1)
    model = Recurrent(8, jax.random.key(0))
    optimizer = optax.adam(1e-2)
    state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_jit
    def step(model, state):
        @eqx.filter_value_and_grad
        def loss(model):
            return jnp.mean((jax.vmap(model)(xs) - ys) ** 2)

        value, grads = loss(model)
        updates, state = optimizer.update(grads, state)
        return eqx.apply_updates(model, updates), state, value

    losses = []
    for _ in range(10):
        model, state, value = step(model, state)
        losses.append(value)

    @jax.jit
    @jax.grad
    def through_a_loop(x):
        return eqxi.while_loop(
            lambda c: c[0] < 5,
            lambda c: (c[0] + 1, jnp.sin(c[1]) * x),
            (0, x),
            kind="checkpointed",
            max_steps=8,
        )[1]

    mlp = eqx.nn.MLP(2, "scalar", 8, 2, key=jax.random.key(1))
    failed = 0
    try:
        eqx.filter_jit(lambda x: eqx.error_if(x, x > 0, "positive"))(jnp.array(1.0))
    except Exception:
        failed = 1
    return {
        "losses": losses,
        "loop": through_a_loop(1.3),
        "mlp": eqx.filter_vmap(mlp)(xs[:3, 0]),
        "failed": failed,
    }
