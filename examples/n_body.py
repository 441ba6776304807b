"""Bodies that attract each other: the figure eight of three, and a cluster of hundreds.

The program says what the potential energy is, and forces are its gradient. The integrator kicks
and drifts in turn, which keeps the energy for as long as one likes. Three equal bodies can chase
each other along one figure eight: after a period all must be where they were. A cluster in
equilibrium (H. C. Plummer, 1911) has twice as much energy of binding as of motion, and keeps that.

After L. Verlet, Computer "Experiments" on Classical Fluids (1967), and A. Chenciner and
R. Montgomery, A Remarkable Periodic Solution of the Three-Body Problem (2000).

    python examples/n_body.py --picture n_body.png
"""

from __future__ import annotations

import argparse
import importlib.util

import numpy as np

import irax
import irax.numpy as jnp

PERIOD = 6.32591398  # of the figure eight, with masses and the constant of gravitation 1


def potential(positions, masses, softening):
    """The energy of all pairs; those closer than the softening don't attract more for it."""
    apart = positions[:, None] - positions[None, :]
    distance = jnp.sqrt(jnp.sum(apart**2, axis=-1) + softening**2 + jnp.eye(len(masses)))
    pairs = masses[:, None] * masses[None, :] / distance
    return -0.5 * jnp.sum(pairs * (1 - jnp.eye(len(masses))))


def energies(positions, velocities, masses, softening):
    """The kinetic and the potential energy."""
    kinetic = 0.5 * jnp.sum(masses[:, None] * velocities**2)
    return kinetic, potential(positions, masses, softening)


@irax.jit(static_argnums=(4, 5, 6))
def simulate(positions, velocities, masses, time_step, steps, keep, softening=0.0):
    """`steps` steps; returns the last state, and `keep` snapshots of positions and energies."""

    def acceleration(positions):
        return -irax.grad(potential)(positions, masses, softening) / masses[:, None]

    def step(_, state):
        positions, velocities = state
        velocities = velocities + time_step * acceleration(positions)
        return positions + time_step * velocities, velocities

    def snapshot(state, _):
        # Velocities are half a step ahead between kicks: what is kept here is at the same time.
        positions, velocities = state
        velocities = velocities + time_step / 2 * acceleration(positions)
        positions = positions + time_step * velocities
        positions, velocities = irax.lax.fori_loop(1, steps // keep, step, (positions, velocities))
        velocities = velocities + time_step / 2 * acceleration(positions)
        kept = positions, jnp.stack(energies(positions, velocities, masses, softening))
        return (positions, velocities), kept

    return irax.lax.scan(snapshot, (positions, velocities), length=keep)


def figure_eight():
    """Positions, velocities and masses of three bodies on a common path."""
    positions = np.array([[0.97000436, -0.24308753], [-0.97000436, 0.24308753], [0, 0]], "f4")
    velocity = np.array([-0.93240737, -0.86473146], "f4")
    return positions, np.array([-velocity / 2, -velocity / 2, velocity]), np.ones(3, "f4")


def plummer(number):
    """A cluster in equilibrium, of mass 1 and binding energy 3 pi / 32."""
    rng = np.random.default_rng(0)

    def directions():
        vectors = rng.normal(size=(number, 3))
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    radius = 1 / np.sqrt(rng.uniform(0, 1, number) ** (-2 / 3) - 1)
    # Speeds in units of the speed of escape have density q^2 (1 - q^2)^(7/2).
    speed = np.sqrt(rng.beta(1.5, 4.5, number))
    velocity = speed * np.sqrt(2) * (1 + radius**2) ** -0.25
    state = radius[:, None] * directions(), velocity[:, None] * directions()
    positions, velocities = ((x - x.mean(axis=0)).astype("float32") for x in state)
    return positions, velocities, np.full(number, 1 / number, "float32")


def step_and_arguments():
    """Some steps of a cluster, and an example of their arguments."""

    def steps(positions, velocities, masses, time_step):
        return simulate(positions, velocities, masses, time_step, 10, 1, 0.05)

    return steps, (*plummer(64), np.float32(0.01))


def draw(file, eight, cluster):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for body, path in enumerate(eight.swapaxes(0, 1)):
        axes[0].plot(*path.T, "k", linewidth=0.5, alpha=0.5)
        axes[0].plot(*path[-1], f"C{body}o")
        axes[0].plot(*path[-len(path) // 6 :].T, f"C{body}", linewidth=2)
    axes[0].set(aspect="equal", title="three bodies, one path")
    axes[1].plot(*cluster[-1, :, :2].T, ".", color="0.6", markersize=2)
    for body, path in enumerate(cluster.swapaxes(0, 1)[:6, :, :2]):
        axes[1].plot(*path.T, f"C{body}", linewidth=1)
        axes[1].plot(*path[-1], f"C{body}o", markersize=4)
    axes[1].set(aspect="equal", xlim=(-5, 5), ylim=(-3, 3), title="a cluster in equilibrium")
    figure.savefig(file, dpi=80)


def main(arguments=None):
    """Runs both, and prints how well energy and period are kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests")
    parser.add_argument("--picture", metavar="FILE", help="draw the result (needs matplotlib)")
    options = parser.parse_args(arguments)
    if options.picture and not importlib.util.find_spec("matplotlib"):
        parser.error("--picture needs matplotlib: pip install matplotlib")

    positions, velocities, masses = figure_eight()
    figures = {}
    for steps in (600, 1200):
        (end, _), (eight, energy) = simulate(
            positions, velocities, masses, PERIOD / steps, steps, 60
        )
        figures[f"missed in {steps} steps"] = float(np.max(np.abs(end - positions)))
    figures["energy of the eight"] = float(jnp.sum(energy[-1]))

    number, steps = (64, 200) if options.small else (500, 1000)
    state = plummer(number)
    kinetic, binding = energies(*state, 0.05)
    _, (cluster, energy) = simulate(*state, 0.01, steps, 100, 0.05)
    total = np.sum(energy, axis=1)
    figures["drift of the cluster"] = float(np.max(np.abs(total / (kinetic + binding) - 1)))
    figures["motion to binding"] = float(-np.mean(energy[:, 0] / energy[:, 1]))
    for name, value in figures.items():
        print(f"{name:24} {value:.6f}")
    if options.picture:
        draw(options.picture, np.asarray(eight), np.asarray(cluster))
    return figures


if __name__ == "__main__":
    main()
