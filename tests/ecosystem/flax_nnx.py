"""flax.nnx: a small transformer block, trained; vmapped layers; filters of state."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Block(nnx.Module):
    def __init__(self, size, rngs):
        self.norm = nnx.LayerNorm(size, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(2, size, rngs=rngs, decode=False)
        self.up = nnx.Linear(size, 2 * size, rngs=rngs)
        self.down = nnx.Linear(2 * size, size, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)

    def __call__(self, x):
        x = x + self.attention(self.norm(x))
        return x + self.dropout(self.down(nnx.gelu(self.up(x))))


def run():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 6, 8)).astype(np.float32)
    y = np.roll(x, 1, axis=1)
    model = Block(8, nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(3e-3), wrt=nnx.Param)

    @nnx.jit
    def step(model, optimizer):
        def loss(model):
            return jnp.mean((model(x) - y) ** 2)

        value, grads = nnx.value_and_grad(loss)(model)
        optimizer.update(model, grads)
        return value

    losses = [step(model, optimizer) for _ in range(10)]
    graph, params, rest = nnx.split(model, nnx.Param, ...)
    merged = nnx.merge(graph, params, rest)
    merged.eval()

    @nnx.vmap(in_axes=0, out_axes=0)
    def make(key):
        return nnx.Linear(3, 2, rngs=nnx.Rngs(key))

    layers = make(jax.random.split(jax.random.key(0), 4))
    return {
        "losses": losses,
        "merged": merged(x)[0, 0],
        "count": sum(p.size for p in jax.tree.leaves(params)),
        "layers": layers.kernel[...].sum((1, 2)),
    }
