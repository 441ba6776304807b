"""flashbax: replay buffers, one with priorities."""

import flashbax as fbx
import jax
import jax.numpy as jnp

SIZES = {"max_length": 32, "min_length": 2, "sample_batch_size": 4, "add_batch_size": 2}


def filled(buffer):
    state = buffer.init({"place": jnp.zeros(3), "reward": jnp.array(0.0)})
    add = jax.jit(buffer.add, donate_argnums=0)
    for i in range(20):
        step = {"place": jnp.full((2, 3), i, jnp.float32), "reward": jnp.arange(2.0) + i}
        state = add(state, step)
    return state


def run():
    flat = fbx.make_flat_buffer(**SIZES)
    ranked = fbx.make_prioritised_flat_buffer(**SIZES)
    state = filled(ranked)
    batch = ranked.sample(state, jax.random.key(1))
    state = ranked.set_priorities(state, batch.indices, jnp.arange(4.0) + 1)
    return {
        "batch": flat.sample(filled(flat), jax.random.key(0)).experience,
        "ranked": batch.experience,
        "again": ranked.sample(state, jax.random.key(2)).experience,
    }
