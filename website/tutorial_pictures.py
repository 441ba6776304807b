"""The pictures of the tutorials, of what their programs compute.

python -m website.tutorial_pictures     writes docs/pictures/tutorial-*.svg anew
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import irax
import irax.numpy as jnp
from website.plots import Plot

DOCS = Path(__file__).parents[1] / "docs"
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)

Names = Mapping[str, Any]
"""The names that a tutorial's programs define."""


def names_of(tutorial: str) -> Names:
    """Run the programs of a tutorial. Errors that it shows on purpose end their block alone."""
    names: dict[str, Any] = {"__name__": "example"}
    with contextlib.redirect_stdout(io.StringIO()):
        for block in _BLOCK.findall((DOCS / "tutorials" / f"{tutorial}.md").read_text("utf-8")):
            with contextlib.suppress(Exception):
                exec(compile(block, f"{tutorial}.md", "exec", dont_inherit=True), names)
    return names


def derivatives(names: Names) -> str:
    """A function, and two derivatives."""
    xs = jnp.linspace(-3, 3, 121)

    def f(x):
        return jnp.sin(x) * x

    plot = Plot((-3, 3), (-4, 4))
    for name, function in (
        ("f(x) = x sin x", f),
        ("grad(f)", irax.grad(f)),
        ("grad(grad(f))", irax.grad(irax.grad(f))),
    ):
        plot.line(xs.tolist(), irax.vmap(function)(xs).tolist(), name)
    return plot.svg()


def training(names: Names) -> str:
    """The arm that the trained network tells, for each place, and the points it learned from."""
    params = names["carry"][0]
    axis = jnp.linspace(-1.1, 1.1, 28)
    places = jnp.stack(jnp.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    shares = irax.nn.softmax(names["predict"](params, places))[:, 1]
    plot = Plot((-1.1, 1.1), (-1.1, 1.1))
    plot.cells(shares.reshape(28, 28).tolist())
    points = names["points"]
    plot.dots(points[:, 0].tolist(), points[:, 1].tolist(), names["labels"].tolist())
    return plot.svg()


def loops(names: Names) -> str:
    """Steps of Newton's method for the square root of 2, from several places."""
    plot = Plot((0, 6), (0, 4))
    for start in (0.5, 1.0, 4.0):
        _, steps = irax.lax.scan(lambda y, _: ((y + 2 / y) / 2, y), start, length=7)
        plot.line(list(range(7)), steps.tolist(), f"from {start:g}")
    return plot.svg()


def random_numbers(names: Names) -> str:
    """A histogram of normal numbers, and their density."""
    drawn = np.asarray(irax.random.normal(names["key"], (20_000,)))
    heights, edges = np.histogram(drawn, bins=40, range=(-4, 4), density=True)
    plot = Plot((-4, 4), (0, 0.45))
    plot.bars(edges.tolist(), heights.tolist())
    xs = np.linspace(-4, 4, 81)
    density = irax.scipy.stats.norm.pdf(xs)
    plot.line(xs.tolist(), density.tolist(), "density")
    return plot.svg()


def debugging(names: Names) -> str:
    """Steps of the tutorial's method, the nearer to 0 the longer the first."""
    plot = Plot((0, 6), (0, 11))
    for start in (1.0, 0.3, 0.1):
        places = [start]
        for _ in range(6):
            places.append(places[-1] - (places[-1] ** 2 - 2) / (2 * places[-1]))
        plot.line(list(range(7)), places, f"from {start:g}")
    return plot.svg()


def ring(names: Names) -> str:
    """Heat on a ring at several times, and the places where devices meet."""
    plot = Plot((0, 64), (0, 1.4))
    for steps in (0, 100, 1000):
        heat = names["heat"](names["start"], steps)
        plot.line(list(range(64)), heat.tolist(), f"after {steps} steps")
    for edge in (16, 32, 48):
        plot.rule(edge)
    return plot.svg()


def mandelbrot(names: Names) -> str:
    """The counts of the tutorial's function on a finer grid."""
    plot = Plot((-2.2, 0.8), (-1.2, 1.2))
    counts = names["steps_until_far"](names["plane"](110, 81))
    plot.cells((0.5 - jnp.floor(jnp.log2(counts)) / 8).tolist(), strength=1.4)
    return plot.svg()


def rules(names: Names) -> str:
    """A function with a custom rule, and the derivative that the rule gives."""
    xs = jnp.linspace(-6, 6, 121)
    plot = Plot((-6, 6), (0, 6))
    plot.line(xs.tolist(), irax.vmap(names["softplus"])(xs).tolist(), "softplus")
    slopes = irax.vmap(irax.grad(names["softplus"]))(xs)
    plot.line(xs.tolist(), slopes.tolist(), "its derivative")
    return plot.svg()


def lengths(names: Names) -> str:
    """The lines of the program of a gradient, by the number of layers."""
    plot = Plot((0, 32), (0, 2000))
    layers = [1, 2, 4, 8, 16, 32]
    for name, network in (("a Python loop", "unrolled"), ("scan", "scanned")):
        plot.line(layers, [names["length"](names[network], n) for n in layers], name)
    return plot.svg()


def hosts(names: Names) -> str:
    """The elements of an array on two processes with four devices each."""
    plot = Plot((0, 8), (0, 1))
    plot.cells([[0.1] * 4 + [0.9] * 4])
    return plot.svg()


PICTURES: Mapping[str, Callable[[Names], str]] = {
    "autodiff": derivatives,
    "training": training,
    "loops": loops,
    "pytrees": random_numbers,
    "custom-rules": rules,
    "debugging": debugging,
    "large-models": lengths,
    "several-devices": ring,
    "several-hosts": hosts,
    "vulkan": mandelbrot,
}
"""For the name of a tutorial, its picture."""


def main() -> None:
    """Write them all."""
    irax.config.update("num_cpu_devices", 4)  # before a tutorial asks for devices
    for tutorial, draw in PICTURES.items():
        path = DOCS / "pictures" / f"tutorial-{tutorial}.svg"
        path.write_text(draw(names_of(tutorial)), "utf-8")


if __name__ == "__main__":
    main()
