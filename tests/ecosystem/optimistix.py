"""optimistix: roots, least squares, minima and fixed points, with derivatives through them."""

import jax
import jax.numpy as jnp
import optimistix as optx


def run():
    def residuals(y, args):
        x, target = args
        return y[0] * jnp.exp(-y[1] * x) - target

    x = jnp.linspace(0.0, 2.0, 10)
    target = 3.0 * jnp.exp(-1.5 * x)
    start = jnp.array([1.0, 1.0])
    found = {}
    for solver in (optx.LevenbergMarquardt(1e-5, 1e-5), optx.GaussNewton(1e-5, 1e-5)):
        fit = optx.least_squares(residuals, solver, start, args=(x, target), max_steps=64)
        found[type(solver).__name__] = fit.value

    def rosenbrock(y, args):
        return (1 - y[0]) ** 2 + args * (y[1] - y[0] ** 2) ** 2

    minimum = optx.minimise(rosenbrock, optx.BFGS(1e-4, 1e-4), jnp.zeros(2), args=10.0)
    found["bfgs"] = minimum.value

    def root(a):
        solver = optx.Newton(1e-5, 1e-5)
        return optx.root_find(lambda y, a: y**3 - a, solver, jnp.array(1.0), args=a).value

    found["root"] = root(8.0)
    found["derivative"] = jax.grad(root)(8.0)
    fixed = optx.FixedPointIteration(1e-5, 1e-5)
    found["fixed"] = optx.fixed_point(lambda y, a: jnp.cos(y), fixed, jnp.array(0.5)).value
    return found
