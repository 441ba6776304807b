"""A roofline as SVG: the arithmetic of each dispatch for a byte, against its rate, below what the
machine does at most.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator

from irax_tools.cost.measure import Measured, Run
from irax_tools.cost.peaks import Peaks
from irax_tools.cost.table import parts_of, time_text, told
from irax_tools.show.terminal import short

_WIDTH, _HEIGHT = 760, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 40, 60
_COLOURS = {"compute": "#c2410c", "memory": "#1d4ed8", "launch": "#6b7280"}
_WORTH_A_NAME = 0.02
"""The share of the time from which on a dispatch is named."""
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#374151}.title{font-size:15px;font-weight:600}"
    ".grid{stroke:#e5e7eb}.roof{stroke:#111827;stroke-width:2;fill:none}"
    ".cache{stroke:#9ca3af;stroke-width:1.5;stroke-dasharray:5 4;fill:none}"
    "circle{fill-opacity:.65;stroke:#fff}"
)


class Scale:
    """Logarithmic axes: intensity in operations a byte, and operations a second."""

    def __init__(self, xs: list[float], ys: list[float]) -> None:
        self.x = math.floor(math.log10(min(xs))), math.ceil(math.log10(max(xs)))
        self.y = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))

    def place(self, x: float, y: float) -> tuple[float, float]:
        """The place of a point in the picture."""
        across = (math.log10(x) - self.x[0]) / (self.x[1] - self.x[0])
        up = (math.log10(y) - self.y[0]) / (self.y[1] - self.y[0])
        return (
            _LEFT + across * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM),
        )


def svg(measured: Measured, peaks: Peaks) -> str:
    """The picture: circles are dispatches, the larger the longer they take."""
    points = [(run, *point) for run in measured.runs if (point := _point(run)) is not None]
    top, far, near = peaks.flops, peaks.bandwidth[-1][1], max(rate for _, rate in peaks.bandwidth)
    xs = [x for _, x, _ in points] + [0.05, 4 * top / far]
    ys = [y for _, _, y in points] + [0.05 * far, top]
    scale = Scale(xs, ys)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>Roofline of {html.escape(measured.func)}</title><style>{_STYLE}</style>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        f'<text x="{_LEFT}" y="22" class="title">{html.escape(measured.func)}: '
        f"{time_text(measured.seconds)} a call</text>",
        *_grid(scale),
        *_roof(scale, "cache", near, top, f"cache: {short(near)} bytes/s"),
        *_roof(scale, "roof", far, top, f"memory: {short(far)} bytes/s"),
        *_top(scale, top),
        *(_circle(scale, peaks, measured, run, x, y) for run, x, y in points),
        *_labels(scale, measured, points),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _point(run: Run) -> tuple[float, float] | None:
    """The intensity and the rate of a dispatch; None for one that has no arithmetic or no time."""
    work = run.cost.flops + run.cost.transcendentals
    if not (work and run.cost.bytes and run.seconds):
        return None
    return work / run.cost.bytes, work / run.seconds


def _grid(scale: Scale) -> Iterator[str]:
    for power in range(scale.x[0], scale.x[1] + 1):
        x, bottom = scale.place(10.0**power, 10.0 ** scale.y[0])
        yield f'<line class="grid" x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{bottom:.1f}"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 18:.1f}" text-anchor="middle">{10.0**power:g}</text>'
    for power in range(scale.y[0], scale.y[1] + 1):
        left, y = scale.place(10.0 ** scale.x[0], 10.0**power)
        yield f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}"/>'
        yield f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{short(10.0**power)}</text>'
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    yield (
        f'<text x="{middle}" y="{_HEIGHT - 18}" text-anchor="middle">operations a byte that a '
        "dispatch reads or writes</text>"
    )
    yield f'<text x="{_LEFT + 6}" y="{_TOP + 14}">operations/s</text>'


def _roof(scale: Scale, kind: str, rate: float, top: float, label: str) -> Iterator[str]:
    lowest = max(10.0 ** scale.x[0], 10.0 ** scale.y[0] / rate)
    (x1, y1), (x2, y2) = scale.place(lowest, lowest * rate), scale.place(top / rate, top)
    yield f'<path class="{kind}" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>'
    angle = math.degrees(math.atan2(y2 - y1, x2 - x1))
    x, y = x1 + 0.3 * (x2 - x1), y1 + 0.3 * (y2 - y1) - 6
    turned = f"rotate({angle:.1f} {x:.1f} {y:.1f})"
    yield f'<text x="{x:.1f}" y="{y:.1f}" transform="{turned}">{label}</text>'


def _top(scale: Scale, top: float) -> Iterator[str]:
    rates_end = 10.0 ** scale.x[0]
    (_, y), (x2, _) = scale.place(rates_end, top), scale.place(10.0 ** scale.x[1], top)
    yield f'<path class="roof" d="M{_LEFT} {y:.1f}L{x2:.1f} {y:.1f}" stroke-opacity=".35"/>'
    yield f'<text x="{x2 - 4:.1f}" y="{y - 6:.1f}" text-anchor="end">{short(top)} flops/s</text>'


def _circle(scale: Scale, peaks: Peaks, measured: Measured, run: Run, x: float, y: float) -> str:
    parts = parts_of(run, peaks)
    bound = max(parts, key=lambda part: parts[part])
    share = (run.seconds or 0) / (measured.in_dispatches or 1)
    across, down = scale.place(x, y)
    title = f"{run.name}: {time_text(run.seconds or 0)}, {told(run)}"
    return (
        f'<circle cx="{across:.1f}" cy="{down:.1f}" r="{4 + 16 * math.sqrt(share):.1f}" '
        f'fill="{_COLOURS[bound]}"><title>{html.escape(title)}</title></circle>'
    )


def _labels(
    scale: Scale, measured: Measured, points: list[tuple[Run, float, float]]
) -> Iterator[str]:
    """The names of the dispatches that take the longest, where there is room to the left."""
    there: list[tuple[float, float]] = []
    for run, x, y in sorted(points, key=lambda point: -(point[0].seconds or 0)):
        across, down = scale.place(x, y)
        share = (run.seconds or 0) / (measured.in_dispatches or 1)
        if share < _WORTH_A_NAME or any(
            abs(across - a) < 90 and abs(down - d) < 14 for a, d in there
        ):
            continue
        there.append((across, down))
        end = across - 6 - 16 * math.sqrt(share)
        name = html.escape(run.name)
        yield f'<text x="{end:.1f}" y="{down + 4:.1f}" text-anchor="end">{name}</text>'
