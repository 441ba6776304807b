"""Spexial: special functions, harmonics and polylogarithms, and derivatives."""

import jax
import jax.numpy as jnp
import spexial as sp


def run():
    jax.config.update("jax_enable_x64", True)
    x = jnp.linspace(-0.9, 0.9, 7)
    p = jnp.linspace(0.2, 4, 7)
    return {
        "geg": jax.vmap(lambda x: sp.eval_gegenbauer(3, 0.5, x))(x),
        "gegs": sp.eval_gegenbauers(4, 0.7, 0.3),
        "k0": sp.k0(p),
        "k1": sp.k1(p),
        "k2e": sp.k2e(p),
        "dk": jax.vmap(jax.grad(sp.k0))(p),
        "gamma": sp.gamma(x + 0.05),
        "poly": sp.polylog(2, x),
        "spence": sp.spence(p),
        "comb": sp.comb(5.0, jnp.arange(6.0)),
        "beta": sp.incomplete_beta(2.0, 3.0, 0.3),
    }
