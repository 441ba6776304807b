"""Let spots grow out of noise: Turing's patterns in the Brusselator, by implicit steps.

    u_t = a - (b + 1) u + u^2 v + d Laplace(u)
    v_t =         b u   - u^2 v + e Laplace(v)       on a square with periodic boundaries

are the concentrations of two substances that react and spread. Where b is greater than (1 + a
sqrt(d/e))^2, waves of wavenumber sqrt(a / sqrt(d e)) grow first. The reaction is quick and growth
is slow, so the steps are implicit (the trapezoidal rule), and Newton's method solves for each. Its
Jacobian has six elements in a row; some ten directional derivatives give it, whatever the grid.

One step solves with SciPy; the other is one compiled function, with `spsolve` of
`irax.experimental.sparse`. Both are held against each other and against the linear theory.

After A. M. Turing, The chemical basis of morphogenesis (1952), and I. Prigogine, R. Lefever,
Symmetry breaking instabilities in dissipative systems II (1968).

    python examples/brusselator.py --picture brusselator.png
"""

from __future__ import annotations

import argparse
import importlib.util

import numpy as np
import scipy.sparse.linalg

import irax
import irax.numpy as jnp
import irax.sparse
from irax.experimental.sparse.linalg import spsolve

A, B = 4.5, 7.2
SPREAD = np.array([2.0, 16.0])
WAVE = (A / np.sqrt(SPREAD.prod())) ** 0.5
"""The wavenumber that grows first."""
SPACING = 2 * np.pi / WAVE / 8
"""The distance of points of the grid: eight are in a wave."""
NEWTON = 3
"""The steps of Newton's method for one in time."""


def rates(both):
    """The derivatives of both substances in time, on a grid of two arrays."""
    u, v = both
    around = sum(jnp.roll(both, shift, axis) for shift in (1, -1) for axis in (1, 2))
    spread = SPREAD[:, None, None] * (around - 4 * both) / SPACING**2
    reaction = u * u * v
    return jnp.stack([A - (B + 1) * u + reaction, B * u - reaction]) + spread


def missed(after, before, length):
    """The residual of a step of the trapezoidal rule."""
    return after - before - length / 2 * (rates(after) + rates(before))


for_scipy = irax.sparse.value_and_jacobian(missed, format="scipy")
by_rows = irax.sparse.value_and_jacobian(missed, format="bcsr")


def step_with_scipy(before, length):
    """A step in time, with SciPy's solver."""
    after = before
    for _ in range(NEWTON):
        value, matrix = for_scipy(after, before, length)
        change = scipy.sparse.linalg.spsolve(matrix.tocsc(), np.asarray(value).ravel())
        after = after - change.reshape(after.shape)
    return after


@irax.jit
def step(before, length):
    """A step in time, as one program."""
    after = before
    for _ in range(NEWTON):
        value, matrix = by_rows(after, before, length)
        change = spsolve(matrix.data, matrix.indices, matrix.indptr, value.ravel())
        after = after - change.reshape(after.shape)
    return after


def steady(n):
    """The concentrations that do not change."""
    return np.stack([np.full((n, n), A), np.full((n, n), B / A)])


def growth(wave):
    """The rate at which a wave along an axis of the grid grows, and its parts in u and v."""
    laplace = (2 * np.cos(wave * SPACING) - 2) / SPACING**2
    matrix = np.array([[B - 1, A**2], [-B, -(A**2)]]) + np.diag(SPREAD * laplace)
    values, vectors = np.linalg.eig(matrix)
    i = int(np.argmax(np.real(values)))
    return np.real(values[i]), np.real(vectors[:, i])


def error_of_growth(n, waves, length, count):
    """The difference between the rate of the steps and that of the linear theory."""
    wave = 2 * np.pi * waves / (n * SPACING)
    rate, parts = growth(wave)
    shape = 1e-6 * parts[:, None, None] * np.cos(wave * SPACING * np.arange(n))
    state = steady(n) + shape
    for _ in range(count):
        state = step(state, length)
    grown = np.vdot(np.asarray(state) - steady(n), np.broadcast_to(shape, state.shape))
    return abs(np.log(grown / (n * np.sum(shape**2))) / (count * length) - rate)


def wavenumber(u):
    """The mean wavenumber of a picture, weighted with the squares of its waves."""
    power = np.abs(np.fft.fft2(u - u.mean())) ** 2
    waves = 2 * np.pi * np.fft.fftfreq(len(u), SPACING)
    return np.sum(power * np.hypot(waves[:, None], waves)) / power.sum()


def step_and_arguments():
    """The residual of a step, and an example of its arguments."""
    both = steady(6).astype("float32")
    return missed, (both, both, np.float32(0.1))


def draw(file, states, times):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(10, 2.8), layout="constrained")
    for axis, state, time in zip(axes, states, times, strict=False):
        axis.imshow(state[0], cmap="magma", interpolation="nearest")
        axis.set(title=f"u after {time:g}", xticks=[], yticks=[])
    example = np.asarray(steady(6))
    pattern = irax.sparse.sparsity(missed)(example, example, 0.1)
    coloring = irax.sparse.color(pattern)
    products, _ = coloring.places()
    axes[3].scatter(pattern.cols, pattern.rows, 4, products, marker="s", cmap="tab20")
    axes[3].set(aspect="equal", title=f"the Jacobian: {coloring.num_colors} colors")
    axes[3].invert_yaxis()
    figure.savefig(file, dpi=80)


def main(arguments=None):
    """Lets a pattern grow, and prints how right it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests")
    parser.add_argument("--picture", metavar="FILE", help="draw the result (needs matplotlib)")
    options = parser.parse_args(arguments)
    if options.picture and not importlib.util.find_spec("matplotlib"):
        parser.error("--picture needs matplotlib: pip install matplotlib")

    n, length, times = (16, 0.5, (2, 40)) if options.small else (48, 0.5, (2, 25, 80))
    rng = np.random.default_rng(0)
    with irax.enable_x64():
        state = steady(n) + 0.01 * rng.normal(size=(2, n, n))
        others = step_with_scipy(state, length)
        difference = float(np.abs(step(state, length) - others).max())
        pattern = irax.sparse.sparsity(missed)(state, state, length)
        states, done = [], 0
        for time in times:
            for _ in range(round((time - done) / length)):
                state = step(state, length)
            done = time
            states.append(np.asarray(state))
        figures = {
            "unknowns": float(state.size),
            "colors": float(irax.sparse.color(pattern).num_colors),
            "solvers differ": difference,
            "error of growth": float(error_of_growth(16, 2, 0.05, 40)),
            "wavenumber": float(wavenumber(states[-1][0])),
            "of linear theory": float(WAVE),
        }
    for name, number in figures.items():
        print(f"{name:24} {number:.4g}")
    if options.picture:
        draw(options.picture, states, times)
    return figures


if __name__ == "__main__":
    main()
