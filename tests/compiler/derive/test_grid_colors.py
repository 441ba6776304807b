"""Colors of stencils on grids: as few as a row has elements, by linear functions."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, hstack

from irax_compiler.coloring.columns import count
from irax_compiler.coloring.grids import color_grid

CROSS = [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0)]
SQUARE = list(product((-1, 0, 1), repeat=2))
CUBE = [tuple(s * (d == e) for e in range(3)) for d in range(3) for s in (-1, 1)] + [(0, 0, 0)]


def stencil(shape: tuple[int, ...], offsets: Any, periodic: bool = False) -> csr_array:
    """The pattern of a function of a grid that takes each point's neighbours."""
    found = np.zeros((int(np.prod(shape)),) * 2, bool)
    for point in np.ndindex(*shape):
        for offset in offsets:
            other = np.add(point, offset)
            if periodic or ((other >= 0) & (other < shape)).all():
                there = np.ravel_multi_index(tuple(other % shape), shape)
                found[np.ravel_multi_index(point, shape), there] = True
    return csr_array(found)


def is_apart(pattern: csr_array, colors: np.ndarray) -> bool:
    """True if no row has two columns of a color: a count that knows nothing of grids."""
    one_hot = np.eye(count(colors), dtype=int)[colors]
    return bool((pattern.toarray().astype(int) @ one_hot <= 1).all())


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (stencil((90,), [(0,), (1,), (-1,)]), 3),
        (stencil((9, 7), CROSS), 5),
        (stencil((12, 12), CROSS, periodic=True), 6),
        (stencil((10, 10), CROSS, periodic=True), 5),
        (stencil((9, 12), SQUARE), 9),
        (stencil((6, 5, 7), CUBE), 7),
        (stencil((300,), [(i,) for i in range(-10, 11)], periodic=True), 25),
    ],
)
def test_grids_have_few_colors(pattern: csr_array, expected: int) -> None:
    colors = color_grid(pattern)
    assert colors is not None
    assert is_apart(pattern, colors)
    assert count(colors) == expected
    # A parameter that all equations have, and one of half of them.
    place = np.arange(len(pattern.toarray()))[:, None]
    beside = csr_array(hstack([place >= 0, pattern, place < place.size // 2]))
    colors = color_grid(beside)
    assert colors is not None
    assert is_apart(beside, colors)
    assert count(colors) == expected + 2


@pytest.mark.parametrize("seed", range(12))
def test_colors_of_any_pattern_are_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    width = int(rng.integers(2, 40))
    offsets = [(int(k),) for k in rng.integers(-3, 4, 3)]
    pattern = stencil((width,), offsets, bool(seed % 2)).toarray()
    for _ in range(seed // 3):  # elements beside the stencil
        pattern[rng.integers(width), rng.integers(width)] = True
    found = csr_array(pattern)
    colors = color_grid(found)
    assert colors is None or is_apart(found, colors)


def test_no_grid_in_a_pattern_without_one() -> None:
    pattern = csr_array(np.random.default_rng(0).random((200, 200)) < 0.03)
    assert color_grid(pattern) is None
    assert color_grid(csr_array(np.ones((3, 200), bool))) is None
    assert color_grid(csr_array((0, 5), dtype=bool)) is None
