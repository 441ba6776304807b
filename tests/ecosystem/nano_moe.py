"""Nano-MoE: a language model with a mixture of experts, trained some steps."""

import jax
import jax.numpy as jnp
from nano_moe.config import NanoMoEConfig
from nano_moe.train import create_train_state, eval_step, train_step


def run():
    cfg = NanoMoEConfig(
        vocab_size=32,
        n_layers=2,
        n_heads=2,
        d_model=32,
        d_ff=64,
        block_size=16,
        batch_size=4,
        dropout_rate=0.0,
    )
    state = create_train_state(jax.random.key(0), cfg)
    ids = jax.random.randint(jax.random.key(1), (4, 17), 0, 32)
    losses = []
    for _ in range(6):
        state, m = train_step(state, ids[:, :-1], ids[:, 1:], cfg)
        losses.append(m["loss"])
    return {
        "losses": jnp.stack(losses),
        "eval": jax.tree.leaves(eval_step(state, ids[:, :-1], ids[:, 1:], cfg))[:1],
    }
