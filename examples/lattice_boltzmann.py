"""Flow around a cylinder in a channel, by the lattice Boltzmann method.

Every cell has nine populations of particles, one for each way to go to a neighbour or to stay. A
step lets them collide, which brings them nearer to equilibrium, and move on; walls send them back.
That is all, and yet it solves the Navier-Stokes equations. The cylinder is that of a published
benchmark: with a Reynolds number of 20 its drag coefficient is between 5.57 and 5.59, and with 100
it sheds vortices with a Strouhal number between 0.295 and 0.305. A circle made of squares, 16 cells
wide, comes within some percent of that.

After Y. H. Qian, D. d'Humieres and P. Lallemand, Lattice BGK Models for Navier-Stokes Equation
(1992), and M. Schaefer and S. Turek, Benchmark Computations of Laminar Flow Around a Cylinder
(1996).

    python examples/lattice_boltzmann.py --picture lattice_boltzmann.png
"""

from __future__ import annotations

import argparse
import importlib.util

import numpy as np

import irax
import irax.numpy as jnp

WAYS = np.array([(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)])
BACK = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])  # the way opposite to each
WEIGHTS = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, "float32")
FASTEST = 0.1  # in the middle of the inlet, in cells per step; sound has 0.58
MEAN = 2 / 3 * FASTEST
SMALL = 10, 7  # the cylinder's diameter in cells, and the channel's length in diameters


def channel(diameter, length):
    """The cells that are solid, which of them are the cylinder, and the velocity at the inlet."""
    height = round(4.1 * diameter)
    y, x = np.mgrid[: height + 2, : round(length * diameter)]
    walls = (y == 0) | (y == height + 1)
    # Two diameters from the inlet and from the wall below: not quite in the middle.
    from_axis = np.hypot(x - 2 * diameter, y - 0.5 - 2 * diameter)
    cylinder = from_axis < diameter / 2
    across = (y[:, 0] - 0.5) / height
    profile = np.where(walls[:, 0], 0, 4 * FASTEST * across * (1 - across))
    return walls | cylinder, cylinder, np.stack([profile, 0 * profile]).astype("float32")


def equilibrium(density, velocity):
    """The populations that collisions tend to, of shape (9, *density.shape)."""
    along = 3 * jnp.tensordot(WAYS.astype("float32"), velocity, 1)
    squared = 1.5 * jnp.sum(velocity**2, axis=0)
    weights = WEIGHTS.reshape(-1, *[1] * density.ndim)
    return weights * density * (1 + along + along**2 / 2 - squared)


def flow(populations):
    """The density and the velocity of the fluid."""
    density = jnp.sum(populations, axis=0)
    momentum = jnp.tensordot(WAYS.T.astype("float32"), populations, 1)
    return density, momentum / jnp.maximum(density, 1e-6)


def step(populations, solid, cylinder, inlet, relaxation):
    """The populations after a step, and the force on the cylinder."""
    density, velocity = flow(populations)
    collided = populations + relaxation * (equilibrium(density, velocity) - populations)
    collided = jnp.where(solid, populations[BACK], collided)
    moved = jnp.stack(
        [jnp.roll(p, (y, x), (0, 1)) for p, (x, y) in zip(collided, WAYS, strict=True)]
    )
    # Populations that come to the cylinder from the fluid will go back: twice their momentum.
    fluid_before = np.stack([np.roll(~solid, (y, x), (0, 1)) for x, y in WAYS])
    arrived = jnp.sum(jnp.where(fluid_before & cylinder, moved, 0), axis=(1, 2))
    force = 2 * arrived @ WAYS.astype("float32")
    # At the left the fluid comes in with a given velocity, at the right it leaves as it flows, with
    # a given density.
    leaving = jnp.where(solid[:, -2], 0, flow(moved[:, :, -2])[1])
    moved = moved.at[:, :, -1].set(equilibrium(jnp.ones_like(inlet[0]), leaving))
    moved = moved.at[:, :, 0].set(equilibrium(jnp.sum(moved[:, :, 1], axis=0), inlet))
    return moved, force


def simulation(diameter, length, reynolds):
    """A function that does 100 steps, and the populations to begin with."""
    solid, cylinder, inlet = channel(diameter, length)
    viscosity = MEAN * diameter / reynolds
    relaxation = 1 / (3 * viscosity + 0.5)

    @irax.jit
    def some_steps(populations):
        def body(populations, _):
            return step(populations, solid, cylinder, inlet, relaxation)

        populations, forces = irax.lax.scan(body, populations, length=100)
        return populations, forces / (0.5 * MEAN**2 * diameter)

    start = np.where(solid, 0, inlet[:, :, None]).astype("float32")
    start = equilibrium(np.ones(solid.shape, "float32"), start)
    return some_steps, jnp.where(solid, 0, start)


def run(diameter, length, reynolds, steps):
    """The populations in the end, and the coefficients of drag and lift after each step."""
    some_steps, populations = simulation(diameter, length, reynolds)
    forces = []
    for _ in range(steps // 100):
        populations, some_forces = some_steps(populations)
        forces.append(some_forces)
    return np.asarray(populations), np.concatenate(forces)


def step_and_arguments():
    """Some steps of a small channel, and an example of their arguments."""
    some_steps, populations = simulation(*SMALL, 20)
    return some_steps, (populations,)


def draw(file, populations, lift, diameter):
    import matplotlib.pyplot as plt

    solid, cylinder, _ = channel(diameter, populations.shape[2] / diameter)
    x, y = np.asarray(flow(populations)[1])
    vorticity = np.gradient(y, axis=1) - np.gradient(x, axis=0)
    vorticity = np.where(solid, np.nan, vorticity * diameter / MEAN)
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(8, 3.6), height_ratios=(2, 1), layout="constrained"
    )
    above.imshow(vorticity, cmap="RdBu", vmin=-6, vmax=6, origin="lower")
    above.contourf(cylinder, levels=[0.5, 1], colors="k")
    above.set(xticks=[], yticks=[], title="vorticity")
    below.plot(np.arange(lift.size) * MEAN / diameter, lift)
    below.set(xlabel="time", ylabel="lift", xlim=(0, lift.size * MEAN / diameter), ylim=(-2, 2))
    figure.savefig(file, dpi=80)


def strouhal(lift, diameter):
    """The frequency at which a signal crosses zero upwards, in units of the flow's."""
    ups = np.flatnonzero((lift[:-1] < 0) & (lift[1:] >= 0))
    return (ups.size - 1) / (ups[-1] - ups[0]) * diameter / MEAN


def main(arguments=None):
    """Computes the drag of a steady flow, and unless small, the frequency of vortices."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests, without vortices")
    parser.add_argument("--picture", metavar="FILE", help="draw the vortices (needs matplotlib)")
    options = parser.parse_args(arguments)
    if options.picture and not importlib.util.find_spec("matplotlib"):
        parser.error("--picture needs matplotlib: pip install matplotlib")

    _, forces = run(*SMALL, 20, 3000) if options.small else run(16, 10, 20, 10000)
    figures = {"drag coefficient": float(np.mean(forces[-1000:, 0]))}
    if not options.small:
        diameter = 16
        populations, forces = run(diameter, 16, 100, 30000)
        figures["Strouhal number"] = float(strouhal(forces[-8000:, 1], diameter))
        figures["greatest drag"] = float(np.max(forces[-8000:, 0]))
        if options.picture:
            draw(options.picture, populations, forces[:, 1], diameter)
    for name, value in figures.items():
        print(f"{name:24} {value:.4f}")
    return figures


if __name__ == "__main__":
    main()
