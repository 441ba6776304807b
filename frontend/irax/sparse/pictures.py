"""Pictures of patterns: dots for a terminal, and SVG, in which elements can have colors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

Picture = Literal["dots", "svg"]
PICTURES = ("dots", "svg")
_DOTS = 64
"""The most rows and columns of dots."""
_CELLS = 256
"""The most rows and columns of cells of SVG."""
_SIZE = 480
"""The length of the longer side of SVG, in pixels."""
_TURN = 137.5
"""The angle on the wheel of hues between one color and the next, by which neighbours differ."""


def dots(rows: np.ndarray, cols: np.ndarray, shape: tuple[int, int]) -> str:
    """Return a picture in characters of two by four dots; a large matrix is made smaller."""
    scale = _scale(shape, _DOTS)
    filled = np.zeros((-(-shape[0] // (4 * scale)) * 4, -(-shape[1] // (2 * scale)) * 2), bool)
    filled[rows // scale, cols // scale] = True
    cells = filled.reshape(filled.shape[0] // 4, 4, -1, 2).transpose(0, 2, 1, 3)
    # The numbers of a Braille character's dots: down the left side, then the right, then below.
    weights = np.array([[1, 8], [2, 16], [4, 32], [64, 128]])
    codes = (cells * weights).sum((2, 3)) + 0x2800
    return "\n".join("".join(map(chr, line)) for line in codes)


def svg(
    rows: np.ndarray,
    cols: np.ndarray,
    shape: tuple[int, int],
    colors: np.ndarray | None = None,
) -> str:
    """Return a picture as SVG, with a cell for each element or, in a large matrix, for several that
    are near each other: the first of them has its color.

    Args:
        rows: the row of each element.
        cols: the column of each element.
        shape: the shape of the matrix.
        colors: the number of each element's color; black if none are given.
    """
    scale = _scale(shape, _CELLS)
    height, width = (-(-extent // scale) for extent in shape)
    places, first = np.unique(rows // scale * max(width, 1) + cols // scale, return_index=True)
    y, x = np.divmod(places, max(width, 1))
    of_cells = np.zeros(places.size, np.int64) if colors is None else colors[first]
    title = f"{rows.size} elements of {shape[0]} x {shape[1]}"
    if colors is not None:
        count = np.unique(colors).size
        title += f" in {count} color{'s' * (count != 1)}"
    pixels = _SIZE / max(height, width, 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'width="{pixels * width:.0f}" height="{pixels * height:.0f}" style="margin:2px">',
        f"<title>{title}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff" stroke="#9ca3af" '
        'vector-effect="non-scaling-stroke"/>',
    ]
    for number in np.unique(of_cells).tolist():
        fill = "#111827" if colors is None else f"hsl({number * _TURN % 360:g} 65% 45%)"
        chosen = of_cells == number
        path = "".join(_runs(y[chosen], x[chosen]))
        parts.append(f'<path fill="{fill}" d="{path}"/>')
    return "\n".join([*parts, "</svg>\n"])


def _scale(shape: tuple[int, int], most: int) -> int:
    """The number of rows and of columns that are shown as one."""
    return max(1, -(-max(shape) // most))


def _runs(rows: np.ndarray, cols: np.ndarray) -> Iterator[str]:
    """The outlines of cells, in row-major order: one for those beside each other."""
    begins = np.ones(rows.size, bool)
    begins[1:] = (np.diff(rows) != 0) | (np.diff(cols) != 1)
    starts = np.flatnonzero(begins)
    lengths = np.diff(np.append(starts, rows.size))
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        yield f"M{cols[start]} {rows[start]}h{length}v1h-{length}z"
