"""sympy2jax: expressions of SymPy as a module: values, batches, and gradients of their numbers."""

import equinox as eqx
import jax
import jax.numpy as jnp
import sympy
import sympy2jax


def run():
    x, y = sympy.symbols("x y")
    module = sympy2jax.SymbolicModule(
        [
            sympy.sin(x) * y**2 + sympy.Rational(3, 7),
            sympy.exp(-1.5 * x) / (1 + y),
            sympy.Max(x, y) + sympy.Abs(x - 0.3),
        ]
    )

    def total(module, x):
        return sum(module(x=x, y=x + 1.0))

    points = jnp.linspace(0.0, 1.0, 7)
    slopes = eqx.filter_grad(lambda m: total(m, points).sum())(module)
    return {
        "values": module(x=jnp.array(0.3), y=jnp.array(1.7)),
        "batch": jax.vmap(lambda p: total(module, p))(points),
        "slope": jax.vmap(jax.grad(lambda p: total(module, p)))(points),
        "numbers": eqx.filter(slopes, eqx.is_inexact_array),
        "back": [float(e.subs({x: 0.25, y: 2.0})) for e in module.sympy()],
    }
