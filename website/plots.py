"""Small plots as SVG, which need no library."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

_WIDTH, _HEIGHT = 520, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 14, 14, 30
_COLOURS = ("#1d4ed8", "#c2410c", "#15803d", "#7e22ce")
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#374151}.axis{stroke:#9ca3af;fill:none}"
    ".line{fill:none;stroke-width:2}.cell{shape-rendering:crispEdges}"
)

Numbers = Sequence[float]


class Plot:
    """A plot in a rectangle of numbers."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        self._x, self._y = x, y
        self._parts: list[str] = []
        self._names: list[tuple[str, str]] = []

    def line(self, xs: Numbers, ys: Numbers, name: str) -> None:
        """Adds a line, with its name in the corner."""
        colour = _COLOURS[len(self._names)]
        self._names.append((name, colour))
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in map(self._place, xs, ys))
        self._parts.append(f'<polyline class="line" stroke="{colour}" points="{points}"/>')

    def dots(self, xs: Numbers, ys: Numbers, kinds: Sequence[int]) -> None:
        """Adds dots, in a colour for each kind."""
        for x, y, kind in zip(xs, ys, kinds, strict=True):
            a, b = self._place(x, y)
            dot = f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5" fill="{_COLOURS[kind]}"/>'
            self._parts.append(dot)

    def rule(self, x: float) -> None:
        """Adds a dashed vertical line."""
        (a, bottom), (_, top) = self._place(x, self._y[0]), self._place(x, self._y[1])
        self._parts.append(
            f'<path class="axis" stroke-dasharray="4 3" d="M{a:.1f} {bottom:.1f}V{top:.1f}"/>'
        )

    def bars(self, edges: Numbers, heights: Numbers) -> None:
        """Adds bars between edges."""
        for left, right, height in zip(edges[:-1], edges[1:], heights, strict=True):
            (a, b), (c, d) = self._place(left, height), self._place(right, 0)
            self._parts.append(
                f'<rect x="{a:.1f}" y="{b:.1f}" width="{c - a - 1:.1f}" height="{d - b:.1f}" '
                f'fill="{_COLOURS[0]}" fill-opacity="0.6"/>'
            )

    def cells(self, rows: Sequence[Numbers], strength: float = 0.5) -> None:
        """Fills the rectangle with cells: rows from below, of numbers between 0 and 1. Equal
        neighbours are one cell.
        """
        height, width = len(rows), len(rows[0])
        (left, bottom), (right, top) = (
            self._place(x, y) for x, y in zip(self._x, self._y, strict=True)
        )
        wide, high = (right - left) / width, (bottom - top) / height
        for i, row in enumerate(rows):
            j = 0
            for share, equal in groupby(row):
                count = len(list(equal))
                colour, much = _COLOURS[share > 0.5], abs(share - 0.5) * strength
                self._parts.append(
                    f'<rect class="cell" x="{left + j * wide:.2f}" '
                    f'y="{bottom - (i + 1) * high:.2f}" width="{count * wide:.2f}" '
                    f'height="{high:.2f}" fill="{colour}" fill-opacity="{much:.2f}"/>'
                )
                j += count

    def svg(self) -> str:
        """The picture."""
        bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
            f'width="{_WIDTH}"><style>{_STYLE}</style>',
            '<rect width="100%" height="100%" fill="#fff"/>',
            *self._parts,
            f'<path class="axis" d="M{_LEFT} {_TOP}V{bottom}H{right}"/>',
        ]
        for value, (a, _) in zip(self._x, map(self._place, self._x, self._y), strict=True):
            parts.append(f'<text x="{a}" y="{bottom + 18}" text-anchor="middle">{value:g}</text>')
        for value, (_, b) in zip(self._y, map(self._place, self._x, self._y), strict=True):
            parts.append(f'<text x="{_LEFT - 6}" y="{b + 4}" text-anchor="end">{value:g}</text>')
        for i, (name, colour) in enumerate(self._names):
            y = _TOP + 14 + 16 * i
            parts.append(f'<text x="{_LEFT + 10}" y="{y}" style="fill:{colour}">{name}</text>')
        return "\n".join([*parts, "</svg>\n"])

    def _place(self, x: float, y: float) -> tuple[float, float]:
        across = (x - self._x[0]) / (self._x[1] - self._x[0])
        up = (y - self._y[0]) / (self._y[1] - self._y[0])
        return (
            _LEFT + across * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM),
        )
