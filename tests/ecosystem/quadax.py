"""quadax: adaptive and fixed quadrature, and derivatives of integrals."""

import jax
import jax.numpy as jnp
import quadax


def run():
    f = lambda t, a: t**2 * jnp.log(1 + a * t)
    value = lambda a: quadax.quadgk(f, [0.0, 1.0], (a,))[0]
    x = jnp.linspace(0.0, 1.0, 33)
    return {
        "gk": value(1.0),
        "cc": quadax.quadcc(f, [0.0, 1.0], (1.0,))[0],
        "ts": quadax.quadts(f, [0.0, 1.0], (1.0,))[0],
        "infinite": quadax.quadgk(lambda t: jnp.exp(-(t**2)), [-jnp.inf, jnp.inf])[0],
        "romberg": quadax.romberg(f, [0.0, 1.0], (1.0,))[0],
        "slope": jax.grad(value)(1.0),
        "forward": jax.jacfwd(value)(1.0),
        "simpson": quadax.simpson(f(x, 1.0), x=x),
        "sums": quadax.cumulative_trapezoid(x**2, x=x),
        "batch": jax.jit(jax.vmap(value))(jnp.array([0.5, 1.5])),
    }
