"""Tables of the parts of arrays that devices have: `irax.debug.visualize_array_sharding`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from irax.core.array import Array, ConcreteArray, as_array
from irax.core.shardings.shardings import Sharding
from irax.core.trees import array_trees

_HEIGHT = 10
"""The lines of a table of a square array."""
_WIDTH_OF_LINE = 2.5
"""The characters in a line that are as long as a line is high."""
_COLOURS = ("blue", "green", "magenta", "cyan", "yellow", "red")


def visualize_sharding(
    shape: Sequence[int],
    sharding: Sharding,
    *,
    use_color: bool = True,
    scale: float = 1.0,
    min_width: int = 9,
    max_width: int = 80,
    color_map: Callable[[float], Sequence[float]] | None = None,
) -> None:
    """Print a table of the parts of an array of one or two dimensions, with the devices of each.

    Args:
        shape: the shape of the array.
        sharding: the division of the array.
        use_color: give each part a colour, on a terminal.
        scale: makes the table larger.
        min_width: the least width of a cell, in characters.
        max_width: the greatest width of the table.
        color_map: a function of numbers from 0 to 1 to red, green and blue in the same range, as
            Matplotlib's colour maps are.

    Raises:
        ValueError: the array has another number of dimensions, or cannot be divided so.

    >>> sharding = irax.NamedSharding(irax.make_mesh((1,), ("i",)), irax.P("i"))
    >>> irax.debug.visualize_sharding((4,), sharding)
    ┌───────┐
    │ CPU 0 │
    └───────┘
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    if len(shape) not in (1, 2):
        raise ValueError(
            f"visualize_sharding: expected a shape of 1 or 2 dimensions, got {tuple(shape)}"
        )
    sharding.shard_shape(shape)  # raises where it does not fit
    cells = _cells(len(shape), sharding)
    console = Console(width=max_width, highlight=False)
    coloured = use_color and console.color_system is not None
    table = Table(show_header=False, show_lines=True, box=box.SQUARE, padding=0)
    height = max(1, int(_HEIGHT * scale / len(cells)) - 1) if len(shape) == 2 else 1
    aspect = shape[1] / max(1, shape[0]) if len(shape) == 2 else 0.0
    wide = int(_HEIGHT * scale * aspect * _WIDTH_OF_LINE) // len(cells[0])
    width = max(min_width - 2, min(wide, max_width // len(cells[0])) - 1)
    for _ in cells[0]:
        table.add_column(justify="center", min_width=width, vertical="middle")
    count = len(cells) * len(cells[0])
    colours = _colours(count, color_map) if coloured else itertools.repeat("")
    for row in cells:
        blank, rest = divmod(height - 1, 2)
        table.add_row(
            *(_cell("\n" * blank + x + "\n" * (blank + rest), next(colours)) for x in row)
        )
    console.print(table)


def _cells(rank: int, sharding: Sharding) -> list[list[str]]:
    """The devices that have each part, by row and column."""
    rows, columns = ([1] * (2 - rank)) + sharding.parts(rank)
    numbers: list[list[list[int]]] = [[[] for _ in range(columns)] for _ in range(rows)]
    for place, device in enumerate(sharding.devices):
        row, column = ([0] * (2 - rank)) + sharding.number_of_part(place, rank)
        numbers[row][column].append(device.id)
    platform = sharding.devices[0].platform.upper()
    return [[f"{platform} {','.join(map(str, sorted(x)))}" for x in row] for row in numbers]


def _colours(count: int, color_map: Callable[[float], Sequence[float]] | None) -> Any:
    """An iterator over background colours of parts."""
    if color_map is None:
        return itertools.cycle(_COLOURS)
    shades = [color_map(i / max(1, count - 1))[:3] for i in range(count)]
    return iter(f"rgb({','.join(str(int(255 * part)) for part in shade)})" for shade in shades)


def _cell(text: str, colour: str) -> Any:
    from rich.text import Text

    return Text(text, style=f"{_readable_on(colour)} on {colour}" if colour else "")


def _readable_on(colour: str) -> str:
    """Return black or white, whichever can be read on a colour: pages are light or dark."""
    from rich.color import Color

    red, green, blue = Color.parse(colour).get_truecolor()
    return "#000000" if 299 * red + 587 * green + 114 * blue > 128_000 else "#ffffff"


def inspect_array_sharding(value: Any, *, callback: Callable[[Sharding], Any]) -> None:
    """Call a function with the sharding of each array of a pytree.

    Args:
        value: the pytree.
        callback: a function of a sharding.

    Raises:
        NotImplementedError: an array is traced: its program is divided when it is compiled.

    >>> irax.debug.inspect_array_sharding(irax.numpy.ones(2), callback=print)
    SingleDeviceSharding(device=CpuDevice(id=0), memory_kind=device)
    """
    for leaf in array_trees.whole_leaves(value):
        callback(_concrete(leaf, "inspect_array_sharding").sharding)


def visualize_array_sharding(arr: Any, **kwargs: Any) -> None:
    """Print a table of the parts of an array, as `visualize_sharding` does.

    Args:
        arr: the array, of one or two dimensions.
        kwargs: options of `visualize_sharding`.

    Raises:
        NotImplementedError: the array is traced.
        ValueError: the array has another number of dimensions.

    >>> irax.debug.visualize_array_sharding(irax.numpy.ones((2, 2)), scale=0.1)
    ┌───────┐
    │ CPU 0 │
    └───────┘
    """
    array = _concrete(arr, "visualize_array_sharding")
    visualize_sharding(array.shape, array.sharding, **kwargs)


def _concrete(x: Any, what: str) -> Array:
    array = as_array(x, f"debug.{what}: value")
    if not isinstance(array, ConcreteArray):
        raise NotImplementedError(
            f"debug.{what}: an array of type {array.aval} is traced, and is divided only when its "
            "program is compiled: return it, and look at the result, or state its sharding by "
            "irax.lax.with_sharding_constraint"
        )
    return array
