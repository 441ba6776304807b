"""JaxKAN: Kolmogorov-Arnold networks of several bases, trained, and one with a finer grid."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jaxkan.models.KAN import KAN


def run():
    x = jax.random.uniform(jax.random.key(0), (64, 2), minval=-1.0)
    y = jnp.sin(3 * x[:, :1]) * x[:, 1:]
    out = {}
    for kind, args in [
        ("base", {"k": 3, "G": 5}),
        ("chebyshev", {"D": 5}),
        ("rbf", {"D": 5}),
    ]:
        model = KAN([2, 4, 1], kind, args, seed=1)
        opt = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)

        @nnx.jit
        def step(model, opt):
            loss, g = nnx.value_and_grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
            opt.update(model, g)
            return loss

        out[kind] = jnp.stack([step(model, opt) for _ in range(20)])
        if kind == "base":
            model.update_grids(x, 8)
            out["extended"] = model(x[:8])
    return out
