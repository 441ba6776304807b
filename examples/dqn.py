"""A network learns by trial and error to walk through a maze with a hole in it.

It guesses what each move is worth: the reward, and what the best move after it is worth by its own
guess. Training makes both agree, on moves drawn from a memory, where the second guess is that of a
copy of the network that is renewed only now and then. Many walkers explore at once (vmap), and the
walking, the memory and the training are one compiled loop (scan). The maze is small enough to know
the true worths.

After V. Mnih et al., Human-Level Control Through Deep Reinforcement Learning (2015).

    python examples/dqn.py --picture dqn.png
"""

from __future__ import annotations

import argparse
import importlib.util

import numpy as np

import irax
import irax.numpy as jnp

MAZE = """
.....G
.##.#H
.#...H
...#..
.#...#
"""
CELLS = np.array([list(row) for row in MAZE.split()])
ROWS, COLUMNS = CELLS.shape
MOVES = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])  # up, right, down, left
DISCOUNT = 0.95
WALKERS, MEMORY, BATCH, HIDDEN = 16, 4096, 64, 64
TOGETHER = 50  # iterations in a call


def rules():
    """Tables of where each move leads, its reward, and whether the walk ends there."""
    place = np.moveaxis(np.mgrid[:ROWS, :COLUMNS], 0, -1)[:, :, None] + MOVES
    place = np.clip(place, 0, (ROWS - 1, COLUMNS - 1))
    here = np.arange(ROWS * COLUMNS)[:, None]
    there = np.ravel_multi_index((place[..., 0], place[..., 1]), CELLS.shape).reshape(-1, 4)
    there = np.where(CELLS.ravel()[there] == "#", here, there)
    kind = CELLS.ravel()[there]
    reward = np.select([kind == "G", kind == "H"], [1.0, -1.0], -0.02)
    return there.astype("int32"), reward.astype("float32"), (kind == "G") | (kind == "H")


THERE, REWARD, END = rules()
FREE = np.flatnonzero(CELLS.ravel() == ".").astype("int32")  # where walks begin


def init(key):
    first, second = irax.random.split(key)
    return {
        "in": irax.random.normal(first, (ROWS * COLUMNS, HIDDEN)),
        "bias": jnp.zeros(HIDDEN),
        "out": irax.random.normal(second, (HIDDEN, 4)) * np.float32(HIDDEN**-0.5),
    }


def worths(params, places):
    """The network's values of the four moves, from one place or from many."""
    return irax.nn.relu(params["in"][places] + params["bias"]) @ params["out"]


def loss(params, target, places, moves, rewards, nexts, ends):
    """The squared distance of the values from the reward plus the best value after it."""
    best = jnp.max(worths(target, nexts), axis=1)
    wanted = rewards + jnp.where(ends, 0, DISCOUNT * best)
    guessed = jnp.take_along_axis(worths(params, places), moves[:, None], axis=1)[:, 0]
    return jnp.mean((guessed - irax.lax.stop_gradient(wanted)) ** 2)


def walk(params, place, key, curiosity):
    """A move of one walker: at random, or the best one. A walk that ends begins anew elsewhere."""
    which, where = irax.random.split(key)
    best = jnp.argmax(worths(params, place))
    chances = curiosity / 4 + (1 - curiosity) * irax.nn.one_hot(best, 4)
    move = irax.random.categorical(which, jnp.log(chances))
    there, end = jnp.asarray(THERE)[place, move], jnp.asarray(END)[place, move]
    seen = place, move, jnp.asarray(REWARD)[place, move], there, end
    return jnp.where(end, irax.random.choice(where, FREE), there), seen


def iteration(state, inputs):
    """All walkers make a move, and the network learns from some remembered ones."""
    params, target, squares, places, memory = state
    count, key, curiosity = inputs
    walking, drawing = irax.random.split(key)
    keys = irax.random.split(walking, WALKERS)
    places, seen = irax.vmap(walk, (None, 0, 0, None))(params, places, keys, curiosity)
    at = count * WALKERS % MEMORY
    memory = irax.tree.map(
        lambda old, new: irax.lax.dynamic_update_slice(old, new, (at,)), memory, seen
    )
    known = jnp.minimum((count + 1) * WALKERS, MEMORY)
    chosen = irax.random.randint(drawing, (BATCH,), 0, known)
    batch = irax.tree.map(lambda column: column[chosen], memory)

    # RMSProp: steps of about the same length for all weights.
    value, gradients = irax.value_and_grad(loss)(params, target, *batch)
    squares = irax.tree.map(lambda s, g: 0.95 * s + 0.05 * g**2, squares, gradients)
    params = irax.tree.map(
        lambda p, g, s: p - 1e-3 * g / jnp.sqrt(s + 1e-4), params, gradients, squares
    )
    renewed = count % 100 == 0
    target = irax.tree.map(lambda t, p: jnp.where(renewed, p, t), target, params)
    return (params, target, squares, places, memory), value


@irax.jit
def iterate(state, counts, keys, curiosities):
    """Some iterations."""
    return irax.lax.scan(iteration, state, (counts, keys, curiosities))


def start(iterations):
    """The state to begin with, and what is given to each iteration."""
    params = init(irax.random.key(0))
    empty = (
        np.zeros(MEMORY, "int32"),
        np.zeros(MEMORY, "int32"),
        np.zeros(MEMORY, "float32"),
        np.zeros(MEMORY, "int32"),
        np.zeros(MEMORY, bool),
    )
    squares = irax.tree.map(jnp.zeros_like, params)
    state = params, params, squares, np.resize(FREE, WALKERS), empty
    curiosity = np.linspace(1, 0.1, iterations, dtype="float32")
    keys = irax.random.split(irax.random.key(1), iterations)
    return state, np.arange(iterations, dtype="int32"), keys, curiosity


def train(iterations):
    """The trained network."""
    state, *inputs = start(iterations)
    for first in range(0, iterations, TOGETHER):
        state, _ = iterate(state, *(x[first : first + TOGETHER] for x in inputs))
    return state[0]


def step_and_arguments():
    """Some iterations, and an example of their arguments."""
    return iterate, start(TOGETHER)


def true_worths():
    """The true values of the moves, by value iteration."""
    worth = np.zeros((ROWS * COLUMNS, 4))
    for _ in range(500):
        worth = REWARD + DISCOUNT * np.where(END, 0, worth.max(axis=1)[THERE])
    return worth


def draw(file, guessed):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for ax, (title, worth) in zip(
        axes, {"learnt": guessed, "exact": true_worths()}.items(), strict=True
    ):
        best = worth.max(axis=1).reshape(ROWS, COLUMNS)
        ax.imshow(np.where(CELLS == ".", best, np.nan), cmap="viridis", vmin=0, vmax=1)
        dy, dx = MOVES[worth.argmax(axis=1)][FREE].T
        y, x = np.divmod(FREE, COLUMNS)
        ax.quiver(x, y, dx, -dy, color="w", pivot="mid", scale=12, width=0.012)
        for (row, column), kind in np.ndenumerate(CELLS):
            name = {"G": "goal", "H": "hole"}.get(kind, "")
            ax.text(column, row, name, ha="center", va="center")
            if kind == "#":
                ax.fill_between([column - 0.5, column + 0.5], row - 0.5, row + 0.5, color="0.3")
        ax.set(title=f"worth of the best move, {title}", xticks=[], yticks=[])
    figure.colorbar(axes[0].images[0], ax=axes)
    figure.savefig(file, dpi=80)


def main(arguments=None):
    """Trains, and prints how far the network's worths are from the true ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests")
    parser.add_argument("--picture", metavar="FILE", help="draw the result (needs matplotlib)")
    options = parser.parse_args(arguments)
    if options.picture and not importlib.util.find_spec("matplotlib"):
        parser.error("--picture needs matplotlib: pip install matplotlib")

    params = train(2500 if options.small else 20000)
    guessed, exact = (
        np.asarray(worths(params, np.arange(ROWS * COLUMNS)))[FREE],
        true_worths()[FREE],
    )
    chosen = np.take_along_axis(exact, guessed.argmax(axis=1)[:, None], axis=1)[:, 0]
    figures = {
        "error of best worths": float(np.max(np.abs(guessed.max(axis=1) - exact.max(axis=1)))),
        "best moves": float(np.mean(exact.max(axis=1) - chosen < 1e-9)),
    }
    for name, value in figures.items():
        print(f"{name:24} {value:.4f}")
    if options.picture:
        draw(options.picture, np.asarray(worths(params, np.arange(ROWS * COLUMNS))))
    return figures


if __name__ == "__main__":
    main()
