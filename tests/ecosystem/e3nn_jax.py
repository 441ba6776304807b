"""e3nn-jax: spherical harmonics, tensor products and an equivariant network."""

import e3nn_jax as e3nn
import jax
import jax.numpy as jnp


def run():
    x = jax.random.normal(jax.random.key(0), (6, 3))
    harmonics = e3nn.spherical_harmonics("0e + 1o + 2e", e3nn.IrrepsArray("1o", x), True)
    product = e3nn.tensor_product(harmonics, harmonics)
    gradient = jax.grad(
        lambda x: jnp.sum(
            e3nn.norm(e3nn.spherical_harmonics("1o + 2e", e3nn.IrrepsArray("1o", x), False)).array
        )
    )(x)
    rotation = e3nn.rand_matrix(jax.random.key(1))
    rotated = harmonics.transform_by_matrix(rotation)
    gate = e3nn.gate(e3nn.IrrepsArray("2x0e + 1x0e + 1o", jnp.ones((2, 6))))
    return {
        "harmonics": harmonics.array,
        "product": product.filter("0e + 1o").array,
        "gradient": gradient,
        "rotated": rotated.array,
        "gate": gate.array,
        "bessel": e3nn.bessel(jnp.linspace(0.1, 1, 5), 3),
        "cg": e3nn.clebsch_gordan(1, 1, 2),
    }
