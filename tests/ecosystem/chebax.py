"""Chebax: special functions by Chebyshev series, and derivatives in their orders."""

import chebax
import jax
import jax.numpy as jnp


def run():
    x = jnp.linspace(0.1, 30.0, 50)
    jv = chebax.besselj(2.5)
    return {
        "j": jv(x),
        "dj": jax.vmap(jax.grad(jv))(x),
        "k": chebax.besselk_fn(1.7, x[:20]),
        "dk": jax.grad(chebax.besselk_fn)(1.7, 5.0),
        "beta": chebax.betainc_fn(2.0, 3.0, 0.4),
        "dbeta": jax.grad(chebax.betainc_fn, (0, 1, 2))(2.0, 3.0, 0.4),
        "gamma": jax.jit(jax.vmap(lambda a: chebax.gammainc_fn(a, 2.0)))(jnp.linspace(0.5, 5, 8)),
        "w": chebax.lambertw(x),
        "dawsn": chebax.dawsn(x[:10]),
        "erfcx": chebax.erfcx(x[:10]),
        "matern": chebax.matern(1.3, x[:10]),
    }
