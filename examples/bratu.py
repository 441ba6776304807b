"""Follow the solutions of Bratu's problem past the point where they turn back.

    u_xx + u_yy + lambda exp(u) = 0 in a square, u = 0 on its boundary

is the steady state of a burning gas. For small lambda it has two solutions; at a turning point they
meet, and beyond there is none: the gas explodes. The value of u in the middle says where on the
branch a solution is, so that is given, and lambda is an unknown, one beside those of the grid.
Newton's method solves for all of them. Its Jacobian has five elements in a row and one full column,
so six directional derivatives give it, whatever the grid.

After R. Glowinski, H. B. Keller, L. Reinhart, Continuation-conjugate gradient methods for the least
squares solution of nonlinear boundary value problems (1985), where the turning point is at 6.808.

    python examples/bratu.py --picture bratu.png
"""

from __future__ import annotations

import argparse
import importlib.util

import numpy as np
import scipy.sparse.linalg

import irax
import irax.numpy as jnp
import irax.sparse

TURNING_POINT = 6.808124
"""The lambda beyond which there is no solution."""


def equations(unknowns, middle):
    """The equations' left sides: at each inner point of the grid, and for the value in the middle.

    The unknowns are u at these points, row by row, and lambda.
    """
    u, strength = unknowns[:-1], unknowns[-1]
    n = round(u.size**0.5)
    padded = jnp.pad(u.reshape(n, n), 1)
    around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    inside = padded[1:-1, 1:-1]
    heat = strength * jnp.exp(inside) / (n + 1) ** 2
    return jnp.append((around - 4 * inside + heat).ravel(), inside[n // 2, n // 2] - middle)


value_and_jacobian = irax.sparse.value_and_jacobian(equations, format="scipy")


def solve(unknowns, middle, steps=20):
    """Newton's method from some unknowns; the unknowns, and the steps that it took."""
    for step in range(steps):
        value, jacobian = value_and_jacobian(unknowns, middle)
        unknowns = unknowns - scipy.sparse.linalg.spsolve(jacobian.tocsc(), np.asarray(value))
        if np.abs(value).max() < 1e-10:
            return unknowns, step + 1
    raise RuntimeError(f"no solution after {steps} steps")


def branch(n, middles):
    """The solutions for some values in the middle: of lambda, and the most steps of Newton's."""
    unknowns, strengths, most = np.zeros(n * n + 1), [], 0
    for middle in middles:
        unknowns, steps = solve(unknowns, middle)
        strengths.append(unknowns[-1])
        most = max(most, steps)
    return np.array(strengths), unknowns, most


def step_and_arguments():
    """The equations' left sides, and an example of their arguments."""
    return equations, (np.zeros(7 * 7 + 1, "float32"), np.float32(0.1))


def summit(middles, strengths):
    """The greatest lambda of the parabola through the greatest three."""
    i = int(np.argmax(strengths))
    a, b, c = np.polyfit(middles[i - 1 : i + 2], strengths[i - 1 : i + 2], 2)
    return c - b * b / (4 * a)


def draw(file, middles, strengths, unknowns):
    import matplotlib.pyplot as plt

    n = round((unknowns.size - 1) ** 0.5)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
    left.plot(strengths, middles, "C3")
    left.axvline(TURNING_POINT, color="k", linestyle=":", linewidth=1)
    left.set(xlabel="lambda", ylabel="u in the middle")
    pattern = irax.sparse.sparsity(equations)(np.zeros(6 * 6 + 1), 1.0)
    right.plot(pattern.cols, pattern.rows, "C0s", markersize=3)
    right.set(aspect="equal", title=f"the Jacobian for 6 x 6 points (solved: {n} x {n})")
    right.invert_yaxis()
    figure.savefig(file, dpi=80)


def main(arguments=None):
    """Follows the branch, and prints where it turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests")
    parser.add_argument("--picture", metavar="FILE", help="draw the result (needs matplotlib)")
    options = parser.parse_args(arguments)
    if options.picture and not importlib.util.find_spec("matplotlib"):
        parser.error("--picture needs matplotlib: pip install matplotlib")

    n = 15 if options.small else 63
    with irax.enable_x64():
        middles = np.linspace(0.1, 4, 14 if options.small else 40)
        strengths, unknowns, most = branch(n, middles)
        # The error of a grid falls with the square of its spacing: two grids give the limit.
        finer, _, _ = branch(2 * n + 1, middles)
        turning = summit(middles, strengths), summit(middles, finer)
        pattern = irax.sparse.sparsity(equations)(unknowns, 1.0)
        figures = {
            "unknowns": float((2 * n + 1) ** 2 + 1),
            "colors": float(irax.sparse.color(pattern).num_colors),
            "most steps": float(most),
            "turning point": turning[1],
            "error of its limit": abs((4 * turning[1] - turning[0]) / 3 - TURNING_POINT),
        }
    for name, number in figures.items():
        print(f"{name:24} {number:.4f}")
    if options.picture:
        draw(options.picture, middles, strengths, unknowns)
    return figures


if __name__ == "__main__":
    main()
