"""Draw samples of a bent distribution by Hamiltonian Monte Carlo, in many chains at once.

A sample is a ball on a surface, which is low where the density is high. A kick sends it off, it
rolls without friction for a while, and where it is then is the next sample: far away, and yet
likely. The slope is a gradient of the density's logarithm. What the steps of the integrator get
wrong, a test that sometimes keeps the old sample sets right. One chain is a scan over samples, and
vmap makes many of it.

After S. Duane, A. D. Kennedy, B. J. Pendleton and D. Roweth, Hybrid Monte Carlo (1987), and
R. M. Neal, MCMC using Hamiltonian Dynamics (2011).

    python examples/hamiltonian_monte_carlo.py --picture hamiltonian_monte_carlo.png
"""

from __future__ import annotations

import argparse
import importlib.util

import numpy as np

import irax
import irax.numpy as jnp

WIDTH, BEND = 1.5, 0.5
STEP, STEPS = 0.3, 12  # of the integrator, for one sample


def log_density(position):
    """A banana: x is normal, and y is normal around a parabola of x. It's not normalized."""
    x, y = position
    return -0.5 * (x / WIDTH) ** 2 - 0.5 * (y - BEND * (x**2 - WIDTH**2)) ** 2


def leapfrog(position, momentum, step):
    """Rolls for a while: kicks by the slope between moves, with half a kick at both ends."""
    slope = irax.grad(log_density)

    def move(_, ball):
        position, momentum = ball
        position = position + step * momentum
        return position, momentum + step * slope(position)

    momentum = momentum + step / 2 * slope(position)
    position, momentum = irax.lax.fori_loop(0, STEPS, move, (position, momentum))
    return position, momentum - step / 2 * slope(position)


def energy(position, momentum):
    return 0.5 * jnp.sum(momentum**2) - log_density(position)


def transition(position, key):
    """The next sample, and whether it's a new one."""
    kick, jitter, chance = irax.random.split(key, 3)
    momentum = irax.random.normal(kick, position.shape)
    step = STEP * irax.random.uniform(jitter, minval=0.8, maxval=1.2)
    moved = leapfrog(position, momentum, step)
    lost = energy(position, momentum) - energy(*moved)
    accepted = jnp.log(irax.random.uniform(chance)) < lost
    return jnp.where(accepted, moved[0], position), accepted


def chain(start, key, count):
    """Many samples, each from the one before."""

    def step(position, key):
        position, accepted = transition(position, key)
        return position, (position, accepted)

    return irax.lax.scan(step, start, irax.random.split(key, count))[1]


@irax.jit(static_argnums=2)
def chains(starts, keys, count):
    """Samples of shape (chains, count, 2), and which of them were accepted."""
    return irax.vmap(lambda start, key: chain(start, key, count))(starts, keys)


def potential_scale_reduction(samples):
    """The potential scale reduction of several chains, 1 at best (Gelman and Rubin, 1992)."""
    count = samples.shape[1]
    within = samples.var(axis=1, ddof=1).mean(axis=0)
    between = count * samples.mean(axis=1).var(axis=0, ddof=1)
    return np.sqrt((count - 1) / count + between / within / count)


def starts_and_keys(number):
    starts = np.random.default_rng(0).normal(0, 1, (number, 2)).astype("float32")
    return starts, irax.random.split(irax.random.key(0), number)


def step_and_arguments():
    """One transition of all chains, and an example of its arguments."""
    return irax.jit(irax.vmap(transition)), starts_and_keys(16)


def draw(file, samples):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    x, y = np.meshgrid(np.linspace(-5, 5, 150), np.linspace(-4, 9, 150))
    ax.contour(x, y, np.exp(log_density((x, y))), levels=6, colors="k", linewidths=0.5)
    every = samples.reshape(-1, 2)
    ax.plot(*every[:: max(len(every) // 2000, 1)].T, "C0.", markersize=2, alpha=0.5)
    ax.plot(*samples[0, :12].T, "C3.-", linewidth=1, label="12 samples of a chain")
    ax.set(xlabel="x", ylabel="y", xlim=(-5, 5), ylim=(-4, 9))
    ax.legend(frameon=False)
    figure.savefig(file, dpi=80)


def main(arguments=None):
    """Draws samples, and prints how they compare with what is known of the distribution."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests")
    parser.add_argument("--picture", metavar="FILE", help="draw the result (needs matplotlib)")
    options = parser.parse_args(arguments)
    if options.picture and not importlib.util.find_spec("matplotlib"):
        parser.error("--picture needs matplotlib: pip install matplotlib")

    number, count = (16, 400) if options.small else (64, 2000)
    samples, accepted = chains(*starts_and_keys(number), count)
    samples = np.asarray(samples)[:, count // 10 :]  # the first ones are still on their way
    figures = {
        "acceptance": float(jnp.mean(accepted)),
        "mean of x": float(samples[..., 0].mean()),
        "mean of y": float(samples[..., 1].mean()),
        "variance of x": float(samples[..., 0].var()),
        "variance of y": float(samples[..., 1].var()),
        "scale reduction": float(potential_scale_reduction(samples).max()),
    }
    exact = {
        "mean of x": 0,
        "mean of y": 0,
        "variance of x": WIDTH**2,
        "variance of y": 1 + 2 * BEND**2 * WIDTH**4,
    }
    for name, value in figures.items():
        print(f"{name:24} {value:.4f}" + (f"   exactly {exact[name]:.4f}" if name in exact else ""))
    if options.picture:
        draw(options.picture, samples)
    return figures


if __name__ == "__main__":
    main()
