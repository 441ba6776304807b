"""DrJAX: a round of federated averaging, and its derivative."""

import drjax
import jax
import jax.numpy as jnp


def run():
    @drjax.program(placements={"clients": 4})
    def round_(model, data):
        models = drjax.broadcast(model)

        def local(m, d):
            return m - 0.1 * jax.grad(lambda m: jnp.mean((d @ m) ** 2))(m)

        updated = drjax.map_fn(local, (models, data))
        return drjax.reduce_mean(updated)

    model = jnp.arange(1.0, 4.0)
    data = jax.random.normal(jax.random.key(0), (4, 5, 3))
    return {
        "round": round_(model, data),
        "jit": jax.jit(round_)(model, data),
        "slope": jax.grad(lambda m: jnp.sum(round_(m, data) ** 2))(model),
        "equations": len(jax.make_jaxpr(round_)(model, data).eqns) > 0,
    }
