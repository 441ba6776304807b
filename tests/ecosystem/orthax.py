"""Orthax: orthogonal polynomials, quadrature, fits and derivatives."""

import jax
import jax.numpy as jnp
import orthax
from orthax import chebyshev, hermite, laguerre, legendre, polynomial, recurrence


def run():
    x = jnp.linspace(-0.9, 0.9, 20)
    c = jnp.array([1.0, 2.0, 0.5, -1.0])
    y = jnp.exp(x)
    rec = recurrence.Jacobi(0.5, 1.5)
    return {
        "cheb": chebyshev.chebval(x, c),
        "der": chebyshev.chebder(c),
        "int": legendre.legint(c),
        "mul": chebyshev.chebmul(c, c[:2]),
        "div": polynomial.polydiv(c, c[:2]),
        "fit": chebyshev.chebfit(x, y, 5),
        "roots": jnp.sort(polynomial.polyroots(jnp.array([-6.0, 11.0, -6.0, 1.0])).real),
        "gauss": legendre.leggauss(6),
        "hermgauss": hermite.hermgauss(5),
        "lag": laguerre.lagval(x, c),
        "grad": jax.grad(lambda c: jnp.sum(chebyshev.chebval(x, c) ** 2))(c),
        "jacobi": orthax.orthgauss(5, rec),
        "val": jax.jit(orthax.orthval)(x, c, rec),
        "interp": chebyshev.chebinterpolate(jnp.sin, 6),
        "grid": legendre.leggrid2d(x[:3], x[:4], jnp.outer(c, c)),
    }
