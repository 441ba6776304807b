"""jFUSE: a rainfall-runoff model, simulated and calibrated by gradients."""

import jax
import jax.numpy as jnp
import jfuse


def run():
    n = 60
    k = jax.random.split(jax.random.key(0), 3)
    out = {}
    for name, config in [("prms", "prms"), ("top", "topmodel")]:
        model = jfuse.create_fuse_model(config)
        params = jfuse.Parameters.default(n_hrus=1)
        forcing = (
            jax.random.exponential(k[0], (n, 1)) * 5,
            jax.random.uniform(k[1], (n, 1)) * 3,
            jax.random.normal(k[2], (n, 1)) * 4 + 8,
        )
        q, _ = model.simulate(forcing, params)
        out[name] = q

        def loss(params, model=model, forcing=forcing):
            return jfuse.mse_loss(model.simulate(forcing, params)[0][:, 0], jnp.ones(n))

        g = jax.grad(loss)(params)
        out[name + " grad"] = jnp.stack([jnp.sum(a) for a in jax.tree.leaves(g)])
    return out
