"""E3x: an equivariant network of atoms, trained, and its forces."""

import e3x
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Model(nn.Module):
    @nn.compact
    def __call__(self, positions, dst, src):
        displacements = positions[src] - positions[dst]
        basis = e3x.nn.basis(
            displacements,
            num=6,
            max_degree=2,
            radial_fn=e3x.nn.reciprocal_bernstein,
            cutoff_fn=lambda r: e3x.nn.smooth_cutoff(r, cutoff=5.0),
        )
        x = e3x.nn.Embed(num_embeddings=3, features=8)(jnp.array([0, 1, 2, 1]))
        for _ in range(2):
            y = e3x.nn.MessagePass()(x, basis, dst_idx=dst, src_idx=src)
            x = e3x.nn.add(x, y)
            x = e3x.nn.Dense(8)(x)
            x = e3x.nn.silu(x)
        x = e3x.nn.TensorDense(features=1, max_degree=0)(x)
        return jnp.sum(x)


def run():
    dst, src = e3x.ops.sparse_pairwise_indices(4)
    positions = jax.random.normal(jax.random.key(0), (4, 3))
    model = Model()
    params = model.init(jax.random.key(1), positions, dst, src)

    def energy(params, positions):
        return model.apply(params, positions, dst, src)

    tx = optax.adam(1e-2)
    state = tx.init(params)

    @jax.jit
    def step(params, state):
        def loss(params):
            e, f = jax.value_and_grad(energy, 1)(params, positions)
            return (e - 1.0) ** 2 + jnp.mean(f**2)

        value, slopes = jax.value_and_grad(loss)(params)
        updates, state = tx.update(slopes, state)
        return optax.apply_updates(params, updates), state, value

    losses = []
    for _ in range(5):
        params, state, value = step(params, state)
        losses.append(value)
    rotation = e3x.so3.random_rotation(jax.random.key(2))
    return {
        "losses": losses,
        "forces": jax.grad(energy, 1)(params, positions),
        "turned": energy(params, positions @ rotation),
    }
