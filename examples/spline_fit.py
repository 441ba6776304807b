"""Fit a smooth curve to noisy points with a spline, and let the data say how smooth.

The curve is a sum of many bumps (cubic B-splines), whose heights solve a linear system: near the
points, and with small second differences. How much those count is one number. Generalized cross-
validation tells how well a point is predicted by all others, and is least where its derivative,
taken through the linear solve, is zero: bisection finds that.

After C. de Boor, A Practical Guide to Splines (1978); P. Craven and G. Wahba, Smoothing Noisy Data
with Spline Functions (1979); P. Eilers and B. Marx, Flexible Smoothing with B-splines (1996).

    python examples/spline_fit.py --picture spline_fit.png
"""

from __future__ import annotations

import argparse
import importlib.util

import numpy as np

import irax
import irax.numpy as jnp

DEGREE = 3


def truth(x):
    """The function behind the points: slow on the left, fast on the right."""
    return np.sin(5 * np.pi * x**2)


def measure(count):
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 1, count))
    return x.astype("float32"), (truth(x) + rng.normal(0, 0.15, count)).astype("float32")


def knots_of(pieces):
    """Equally far apart, and some beyond both ends."""
    return (np.arange(-DEGREE, pieces + DEGREE + 1) / pieces).astype("float32")


def basis(x, knots):
    """All B-splines at one point, by the recursion of Cox and de Boor."""
    bumps = jnp.where((knots[:-1] <= x) & (x < knots[1:]), 1.0, 0.0)
    for degree in range(1, DEGREE + 1):
        width = degree * (knots[1] - knots[0])
        rising = (x - knots[: -degree - 1]) / width
        falling = (knots[degree + 1 :] - x) / width
        bumps = rising * bumps[:-1] + falling * bumps[1:]
    return bumps


def curve(x, heights, knots):
    """The spline at one point."""
    return basis(x, knots) @ heights


def solve(logarithm, x, y, knots):
    """The heights for a penalty, given as its logarithm, and how many numbers they stand for."""
    matrix = irax.vmap(basis, (0, None))(x, knots)
    roughness = np.diff(np.eye(knots.size - DEGREE - 1, dtype="float32"), 2, axis=0)
    normal = matrix.T @ matrix
    both = jnp.linalg.solve(
        normal + jnp.exp(logarithm) * roughness.T @ roughness,
        jnp.concatenate([(matrix.T @ y)[:, None], normal], axis=1),
    )
    return both[:, 0], jnp.trace(both[:, 1:])


def cross_validation(logarithm, x, y, knots):
    """The error with which points are predicted by the others, but for a square root."""
    heights, freedom = solve(logarithm, x, y, knots)
    residual = y - irax.vmap(curve, (0, None, None))(x, heights, knots)
    return x.size * jnp.sum(residual**2) / (x.size - freedom) ** 2


@irax.jit
def fit(x, y, knots):
    """The penalty's logarithm at which cross-validation has its minimum, and the heights."""

    def halve(_, ends):
        low, high = ends
        middle = (low + high) / 2
        rises = irax.grad(cross_validation)(middle, x, y, knots) > 0
        return jnp.where(rises, low, middle), jnp.where(rises, middle, high)

    low, high = irax.lax.fori_loop(0, 20, halve, (jnp.log(1e-4), jnp.log(1e3)))
    return (low + high) / 2, solve((low + high) / 2, x, y, knots)


# The spline and its derivative, at many points.
curve_and_slope = irax.jit(irax.vmap(irax.value_and_grad(curve), (0, None, None)))


def step_and_arguments():
    """A fit, and an example of its arguments."""
    return fit, (*measure(60), knots_of(20))


def draw(file, x, y, at, value, slope):
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(2, 1, figsize=(6, 4.5), sharex=True, layout="constrained")
    above.plot(x, y, "C3.", markersize=3, alpha=0.6, label="measurements")
    above.plot(at, truth(at), "k--", linewidth=1, label="the function")
    above.plot(at, value, "C0", label="spline")
    above.legend(frameon=False, loc="lower left", ncols=3)
    above.set(ylim=(-2.1, 1.6))
    below.plot(at, np.gradient(truth(at), at), "k--", linewidth=1)
    below.plot(at, slope, "C0")
    below.set(xlabel="x", ylabel="slope")
    figure.savefig(file, dpi=80)


def main(arguments=None):
    """Fits, and prints what was chosen and how good it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests")
    parser.add_argument("--picture", metavar="FILE", help="draw the result (needs matplotlib)")
    options = parser.parse_args(arguments)
    if options.picture and not importlib.util.find_spec("matplotlib"):
        parser.error("--picture needs matplotlib: pip install matplotlib")

    (x, y), knots = measure(60 if options.small else 200), knots_of(20 if options.small else 40)
    logarithm, (heights, freedom) = fit(x, y, knots)
    at = np.linspace(0.02, 0.98, 49 if options.small else 400, dtype="float32")
    value, slope = curve_and_slope(at, heights, knots)
    figures = {
        "penalty": float(jnp.exp(logarithm)),
        "degrees of freedom": float(freedom),
        "cross-validated error": float(jnp.sqrt(cross_validation(logarithm, x, y, knots))),
        "error of the points": float(np.sqrt(np.mean((y - truth(x)) ** 2))),
        "error of the spline": float(np.sqrt(np.mean((value - truth(at)) ** 2))),
    }
    for name, number in figures.items():
        print(f"{name:24} {number:.4f}")
    if options.picture:
        draw(options.picture, x, y, at, value, slope)
    return figures


if __name__ == "__main__":
    main()
