"""penzai: a network of layers, named axes, selections."""

import jax
import jax.numpy as jnp
from penzai import pz


def run():
    mlp = pz.nn.Sequential(
        [
            pz.nn.Affine.from_config(
                "first", jax.random.key(0), input_axes={"in": 3}, output_axes={"out": 4}
            ),
            pz.nn.Elementwise(jax.nn.gelu),
        ]
    )
    x = pz.nx.wrap(jnp.arange(6.0).reshape(2, 3)).tag("batch", "in")
    unbound, params = pz.unbind_params(mlp)
    frozen = [p.freeze() for p in params]

    @jax.jit
    def loss(values):
        bound = pz.bind_variables(unbound, values)
        y = bound(x).untag("batch", "out").unwrap()
        return jnp.sum(y**2)

    grads = jax.grad(loss)(frozen)
    counted = pz.select(mlp).at_instances_of(pz.nn.Affine).count()
    named = pz.nx.wrap(jnp.arange(12.0).reshape(3, 4)).tag("a", "b")
    return {
        "loss": loss(frozen),
        "gradient": [jnp.sum(jnp.abs(g)) for g in jax.tree.leaves(grads)],
        "count": counted,
        "named": pz.nx.nmap(jnp.sin)(named).untag("b", "a").unwrap().sum(1),
    }
