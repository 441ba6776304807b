"""opt_einsum: contractions along chosen paths, expressions, and their gradients."""

import jax
import jax.numpy as jnp
import opt_einsum


def run():
    keys = jax.random.split(jax.random.key(0), 4)
    shapes = ((3, 4), (4, 5, 2), (5, 3), (2, 6))
    arrays = [jax.random.normal(k, shape) for k, shape in zip(keys, shapes, strict=True)]
    chain = "ij,jkl,ki,lm->m"
    contracted = opt_einsum.contract(chain, *arrays)
    expression = opt_einsum.contract_expression(chain, *shapes, optimize="optimal")

    def loss(first):
        return jnp.sum(opt_einsum.contract(chain, first, *arrays[1:]) ** 2)

    half = opt_einsum.contract_expression(
        "ij,jkl,ki->l", shapes[0], arrays[1], arrays[2], constants=[1, 2]
    )
    with opt_einsum.shared_intermediates():
        shared = [opt_einsum.contract("ij,jkl->kl", arrays[0], arrays[1]) for _ in range(2)]
    return {
        "contracted": contracted,
        "is_of_jax": isinstance(contracted, jax.Array),
        "expression": expression(*arrays),
        "jitted": jax.jit(lambda *x: opt_einsum.contract(chain, *x))(*arrays),
        "gradient": jax.grad(loss)(arrays[0]),
        "mapped": jax.vmap(lambda x: half(x))(jnp.stack([arrays[0], 2 * arrays[0]])),
        "shared": shared,
    }
