"""Mamba2: a state space model of language, trained, and decoded with a cache."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from mamba2_jax import Mamba2Config, Mamba2ForCausalLM, create_random_forecaster


def run():
    cfg = Mamba2Config(
        vocab_size=64, hidden_size=32, num_hidden_layers=2, state_size=16, head_dim=16, chunk_size=8
    )
    model = Mamba2ForCausalLM(cfg, rngs=nnx.Rngs(0))
    ids = jax.random.randint(jax.random.key(0), (2, 24), 0, 64)
    out = model(ids, labels=ids)
    opt = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

    @nnx.jit
    def step(model, opt):
        loss, g = nnx.value_and_grad(lambda m: m(ids, labels=ids)["loss"])(model)
        opt.update(model, g)
        return loss

    losses = jnp.stack([step(model, opt) for _ in range(4)])
    out2 = model(ids[:, :8])
    out3 = model(ids[:, 8:9], cache=out2["cache"])
    f = create_random_forecaster(
        input_dim=4, d_model=32, n_layers=1, output_dim=1, forecast_horizon=6
    )
    return {
        "logits": out["logits"][:, :3, :8],
        "losses": losses,
        "decoded": out3["logits"],
        "forecast": f(jax.random.normal(jax.random.key(1), (2, 20, 4))),
    }
