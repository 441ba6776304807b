"""Bijx: a coupling flow and a continuous flow, sampled and inverted, and a fit."""

import bijx
import jax
import jax.numpy as jnp
import optax
from flax import nnx


def run():
    prior = bijx.IndependentNormal(event_shape=(2,))
    base = bijx.ModuleReconstructor(bijx.AffineLinear(rngs=nnx.Rngs(0)))
    coupling = bijx.GeneralCouplingLayer(
        embedding_net=lambda x: (
            jnp.sin(x)[..., None] * jnp.ones(x.shape + (base.params_total_size,))
        ),
        mask=bijx.BinaryMask.from_boolean_mask(jnp.array([True, False])),
        bijection_reconstructor=base,
    )
    cnf = bijx.ContFlowDiffrax(vf=bijx.AutoJacVF(lambda t, x: -jnp.sin(x)))
    flow = bijx.Chain(
        bijx.Shift(jnp.array([5.0, -2.0])), bijx.Scaling(jnp.array([2.0, 0.5])), coupling, cnf
    )
    x, lp = prior.sample(batch_shape=(5,), rng=jax.random.key(42))
    y, ly = flow.forward(x, lp)
    xr, lr = flow.reverse(y, ly)
    dist = bijx.Transformed(
        prior, bijx.Chain(bijx.Scaling(jnp.array([2.0, 0.5])), bijx.Shift(jnp.array([1.0, -2.0])))
    )
    data = jax.random.normal(jax.random.key(1), (200, 2)) * jnp.array([3.0, 0.3]) + jnp.array(
        [-1.0, 2.0]
    )
    opt = nnx.Optimizer(dist, optax.adam(5e-2), wrt=nnx.Param)

    @nnx.jit
    def step(dist, opt):
        loss, grads = nnx.value_and_grad(lambda d: -jnp.mean(d.log_density(data)))(dist)
        opt.update(dist, grads)
        return loss

    losses = [step(dist, opt) for _ in range(30)]
    return {"x": x, "lp": lp, "y": y, "ly": ly, "back": xr, "lr": lr, "losses": jnp.stack(losses)}
