"""Steer a craft from one orbit to another with the least effort: an optimal control problem.

    minimize   integral of |thrust|^2 / 2
    such that  position'' = -position / |position|^3 + thrust

with given positions and velocities at both ends. On a grid in time, each step of the trapezoidal
rule is an equation, and with a multiplier for each equation the Lagrangian has a saddle where the
problem is solved. Newton's method finds it. Its matrix is the Hessian of the Lagrangian by the
unknowns and the multipliers together: 100,000 of them, for which a dense one had 10^10 elements.
This one has five or six in a row, and eight products give it, however long the grid.

What it finds is held against Pontryagin's principle, by which the thrust is a costate: SciPy flies
the whole orbit from the first multipliers alone.

After J. T. Betts, Practical Methods for Optimal Control and Estimation Using Nonlinear Programming
(2010), chapter 4.

    python examples/orbit_transfer.py --picture orbit_transfer.png
"""

from __future__ import annotations

import argparse
import importlib.util

import numpy as np
import scipy.integrate
import scipy.sparse.linalg

import irax
import irax.numpy as jnp
import irax.sparse

START = np.array([1.0, 0.0, 0.0, 1.0])
"""The position and the velocity on a circle of radius 1."""
END = np.array([-1.5, 0.0, 0.0, -(1.5**-0.5)])
"""The position and the velocity on a circle of radius 1.5, on the other side."""
DURATION = 3 * np.pi / (4 - 4 * 1.5**-0.5)
"""The time that a slow spiral from one to the other takes for a turn and a half."""


def rates(state, thrust):
    """The derivatives of positions and velocities in time."""
    position, velocity = state[..., :2], state[..., 2:]
    cubes = (position**2).sum(-1, keepdims=True) ** 1.5
    return jnp.concatenate([velocity, thrust - position / cubes], -1)


def lagrangian(unknowns, multipliers):
    """The effort, and the equations times their multipliers.

    The unknowns are positions, velocities and thrusts at the times of the grid: rows of six. The
    multipliers are rows of four: of the steps, of the start, and of the end.
    """
    state, thrust = unknowns[:, :4], unknowns[:, 4:]
    length = DURATION / (len(unknowns) - 1)
    change = rates(state, thrust)
    missed = state[1:] - state[:-1] - length / 2 * (change[1:] + change[:-1])
    ends = jnp.stack([state[0] - START, state[-1] - END])
    squares = (thrust**2).sum(-1)
    effort = length / 2 * (squares.sum() - (squares[0] + squares[-1]) / 2)
    return effort + (multipliers * jnp.concatenate([missed, ends])).sum()


slope_and_matrix = irax.sparse.grad_and_hessian(lagrangian, argnums=(0, 1), format="scipy")


def guess(count):
    """A slow spiral from one orbit to the other, without thrust, and no multipliers."""
    part = np.linspace(0, 1, count)
    radius = 1 + 0.5 * part
    angle = 4 * DURATION * (1 - radius**-0.5)  # the integral of radius^-1.5
    around = np.stack([np.cos(angle), np.sin(angle)], 1)
    ahead = np.stack([-np.sin(angle), np.cos(angle)], 1)
    state = np.concatenate([radius[:, None] * around, ahead / radius[:, None] ** 0.5], 1)
    return np.concatenate([state, np.zeros((count, 2))], 1), np.zeros((count + 1, 4))


def solve(unknowns, multipliers, steps=20):
    """Newton's method from a guess; the solution, and the steps that it took."""
    for step in range(steps):
        slope, matrix = slope_and_matrix(unknowns, multipliers)
        slope = np.concatenate([np.ravel(x) for x in slope])
        if np.abs(slope).max() < 1e-10:
            return unknowns, multipliers, step
        change = np.asarray(scipy.sparse.linalg.spsolve(matrix.tocsc(), slope))
        parts = np.split(change, [unknowns.size])
        unknowns = unknowns - parts[0].reshape(unknowns.shape)
        multipliers = multipliers - parts[1].reshape(multipliers.shape)
    raise RuntimeError(f"no solution after {steps} steps")


def effort(unknowns):
    """The integral of the squared thrust, by the trapezoidal rule."""
    return np.trapezoid((unknowns[:, 4:] ** 2).sum(1), dx=DURATION / (len(unknowns) - 1)) / 2


def flown(multipliers):
    """The state at the end that Pontryagin's principle leads to, from the first multipliers."""

    def change(_, both):
        position, velocity, of_position, of_velocity = both.reshape(4, 2)
        distance = np.hypot(*position)
        pull = of_velocity / distance**3
        pull -= 3 * position * (position @ of_velocity) / distance**5
        return np.concatenate([velocity, of_velocity - position / distance**3, pull, -of_position])

    # A multiplier is the costate in the middle of its step.
    both = np.concatenate([START, 1.5 * multipliers[0] - 0.5 * multipliers[1]])
    times = np.linspace(0, DURATION, 200)
    return scipy.integrate.solve_ivp(
        change, (0, DURATION), both, "DOP853", times, rtol=1e-10, atol=1e-10
    ).y.T


def step_and_arguments():
    """The Lagrangian, and an example of its arguments."""
    unknowns, multipliers = guess(9)
    return lagrangian, (unknowns.astype("float32"), multipliers.astype("float32") + 0.1)


def draw(file, unknowns):
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
    angle = np.linspace(0, 2 * np.pi, 200)
    for radius in (1, 1.5):
        left.plot(radius * np.cos(angle), radius * np.sin(angle), "k:", linewidth=1)
    left.plot(unknowns[:, 0], unknowns[:, 1], "C0")
    few = unknowns[:: len(unknowns) // 40]
    left.quiver(*few[:, [0, 1, 4, 5]].T, color="C3", width=0.005)
    left.set(aspect="equal", title="the orbit and the thrust")
    matrix = irax.sparse.hessian_sparsity(lagrangian, argnums=(0, 1))(*guess(9))
    coloring = irax.sparse.color(matrix, "symmetric")
    right.scatter(matrix.cols, matrix.rows, 4, coloring.places()[0], marker="s", cmap="tab20")
    right.set(aspect="equal", title=f"the Hessian for 9 times: {coloring.num_colors} colors")
    right.invert_yaxis()
    figure.savefig(file, dpi=80)


def main(arguments=None):
    """Finds the transfer, and prints how right it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests")
    parser.add_argument("--picture", metavar="FILE", help="draw the result (needs matplotlib)")
    options = parser.parse_args(arguments)
    if options.picture and not importlib.util.find_spec("matplotlib"):
        parser.error("--picture needs matplotlib: pip install matplotlib")

    count = 201 if options.small else 10_000
    with irax.enable_x64():
        unknowns, multipliers, steps = solve(*guess(count))
        pattern = irax.sparse.hessian_sparsity(lagrangian, argnums=(0, 1))(unknowns, multipliers)
        figures = {
            "unknowns": float(unknowns.size + multipliers.size),
            "elements": float(pattern.nnz),
            "colors": float(irax.sparse.color(pattern, "symmetric").num_colors),
            "steps": float(steps),
            "effort": float(effort(unknowns)),
            "missed by the principle": float(np.abs(flown(multipliers)[-1, :4] - END).max()),
        }
    for name, number in figures.items():
        print(f"{name:24} {number:.6g}")
    if options.picture:
        draw(options.picture, unknowns)
    return figures


if __name__ == "__main__":
    main()
