"""Laplax: Laplace approximations of a network's posterior, and predictive variances."""

import jax
import jax.numpy as jnp
import optax
from laplax.curv import create_ggn_mv, create_posterior_fn
from laplax.eval.pushforward import lin_pred_mean, lin_pred_var, lin_setup, set_lin_pushforward


def run():
    k = jax.random.split(jax.random.key(0), 3)
    params = {
        "w1": jax.random.normal(k[0], (1, 8)),
        "b1": jnp.zeros(8),
        "w2": jax.random.normal(k[1], (8, 1)) * 0.3,
        "b2": jnp.zeros(1),
    }

    def model_fn(input, params):
        return jnp.tanh(input @ params["w1"] + params["b1"]) @ params["w2"] + params["b2"]

    X = jnp.linspace(-2, 1.3, 30)[:, None]
    Y = jnp.sin(2 * X)

    def loss(p):
        return jnp.mean((jax.vmap(lambda x: model_fn(x, p))(X) - Y) ** 2)

    opt = optax.adam(0.05)

    @jax.jit
    def step(c, _):
        p, s = c
        u, s = opt.update(jax.grad(loss)(p), s)
        return (optax.apply_updates(p, u), s), None

    (params, _), _ = jax.lax.scan(step, (params, opt.init(params)), length=100)
    data = {"input": X, "target": Y}
    ggn = create_ggn_mv(model_fn, params, data, loss_fn="mse", num_total_samples=30)
    v = jax.tree.map(jnp.ones_like, params)
    out = {"loss": loss(params), "mv": ggn(v)}
    post = create_posterior_fn("full", mv=ggn, layout=params)
    push = set_lin_pushforward(
        model_fn=model_fn,
        mean_params=params,
        posterior_fn=post,
        pushforward_fns=[lin_setup, lin_pred_mean, lin_pred_var],
        prior_arguments={"prior_prec": 1.0},
    )
    pred = jax.vmap(push)(X[:5])
    out["pred"] = {k: pred[k] for k in ("pred_mean", "pred_var")}
    return out
