"""The drawings of docs/, made of what passes make of functions.

python -m website.drawings      writes docs/pictures/*.svg anew, as `make docs` does
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import irax
import irax.numpy as jnp
import irax.sparse
from irax_compiler import api, mlir, targets
from irax_compiler.iree.phases import PHASES
from irax_tools import derive
from irax_tools.sources import Source

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"

_HEIGHT, _ROW, _GAP, _EDGE = 26, 52, 14, 18
_LINES = 13
"""The most lines of a column of a stage."""
_WIDEST = 860
"""The width in which rows of boxes end; a page is hardly wider."""
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1f2937}.head{font-weight:600}.small{font-size:11px}"
    ".box{fill:#f8fafc;stroke:#cbd5e1}.op{fill:#fff;stroke:#64748b}.end{fill:#e2e8f0;stroke:#94a3b8}"
    ".linear{fill:#fef3c7;stroke:#d97706}path{stroke:#64748b;fill:none;marker-end:url(#to)}"
    ".kept{stroke:#d97706;stroke-dasharray:4 3}"
)
_ARROW = (
    '<defs><marker id="to" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" markerHeight="6" '
    'orient="auto"><path d="M0 0L6 3L0 6z" style="fill:#64748b;stroke:none"/></marker></defs>'
)


@dataclass(eq=False)
class Node:
    """A box: an argument, an operation, or a result."""

    label: str
    kind: str
    sources: list[Node] = field(default_factory=list)
    level: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        """The width of the box, for its label."""
        return 7.0 * len(self.label) + 16


@dataclass
class Panel:
    """A function as a graph."""

    title: str
    nodes: list[Node]
    width: float = 0.0
    height: float = 0.0
    results: list[Node] = field(default_factory=list)
    arguments: list[Node] = field(default_factory=list)


def panel(
    module: mlir.Module,
    func: str,
    title: str,
    arguments: Sequence[str],
    results: Sequence[str],
    linear: Sequence[int] = (),
) -> Panel:
    """The graph of a function. `linear` are the arguments in which it is linear: what depends on
    them stands out.
    """
    function = mlir.functions(module)[func]
    made = Panel(title, [])
    of: dict[mlir.Value, Node] = {}
    for i, (value, name) in enumerate(zip(mlir.arguments(function), arguments, strict=True)):
        node = Node(name, "end linear" if i in linear else "end")
        of[value] = node
        made.arguments.append(node)
    operations = [view.operation for view in mlir.body(function).operations]
    for operation in operations[:-1]:
        sources = [of[x] for x in operation.operands]
        is_linear = any("linear" in source.kind for source in sources)
        node = Node(_label(operation), "op linear" if is_linear else "op", sources)
        of.update(dict.fromkeys(operation.results, node))
        made.nodes.append(node)
    for value, name in zip(operations[-1].operands, results, strict=True):
        source = of[value]
        made.results.append(Node(name, source.kind.replace("op", "end"), [source]))
    made.nodes = [*made.arguments, *made.nodes, *made.results]
    _place(made)
    return made


def _label(operation: mlir.Operation) -> str:
    name = operation.name.rpartition(".")[2]
    kind: Any = operation.results[0].type
    shape = "x".join(map(str, kind.shape))
    return f"{name} {shape}" if shape else name


def _place(made: Panel) -> None:
    """Gives each node a place: a level below those that it reads, and beside its neighbours."""
    for node in made.nodes:
        node.level = 1 + max((source.level for source in node.sources), default=-1)
    last = max(node.level for node in made.nodes)
    for node in made.results:
        node.level = last
    levels = [[n for n in made.nodes if n.level == level] for level in range(last + 1)]
    widths = [sum(n.width + _GAP for n in nodes) - _GAP for nodes in levels]
    made.width, made.height = max(widths, default=0) + 2 * _EDGE, len(levels) * _ROW + 2 * _EDGE
    for row, (nodes, width) in enumerate(zip(levels, widths, strict=True)):
        if row:
            nodes.sort(key=lambda n: sum(s.x for s in n.sources) / max(len(n.sources), 1))
        x = (made.width - width) / 2
        for node in nodes:
            node.x, node.y = x + node.width / 2, _EDGE + 20 + row * _ROW
            x += node.width + _GAP


def draw(panels: Sequence[Panel], kept: Sequence[tuple[Node, Node]] = ()) -> str:
    """A picture of functions side by side. `kept` are values that one leaves for another."""
    left, parts = 10.0, []
    height = max(p.height for p in panels) + 30
    for p in panels:
        width = max(p.width, 8.0 * len(p.title) + 2 * _EDGE)
        shift = left + (width - p.width) / 2
        for node in p.nodes:
            node.x += shift
            node.y += 24
        parts.append(
            f'<rect class="box" x="{left:.0f}" y="8" width="{width:.0f}" '
            f'height="{height - 16:.0f}" rx="8"/>'
        )
        parts.append(_text(left + width / 2, 28, p.title, "head"))
        parts += [_edge(source, node) for node in p.nodes for source in node.sources]
        parts += [_box(node) for node in p.nodes]
        left += width + 30
    parts += [_edge(source, node, "kept") for source, node in kept]
    return _svg(left - 20, height, parts)


def _svg(width: float, height: float, parts: Sequence[str]) -> str:
    inside = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}"><style>{_STYLE}</style>{_ARROW}\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{inside}\n</svg>\n'
    )


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}"'
    return f'<text {place} class="{kind}" text-anchor="middle">{html.escape(text)}</text>'


def _box(node: Node) -> str:
    round_ = _HEIGHT / 2 if node.kind.startswith("end") else 4
    return (
        f'<rect class="{node.kind}" x="{node.x - node.width / 2:.1f}" '
        f'y="{node.y - _HEIGHT / 2:.1f}" width="{node.width:.1f}" height="{_HEIGHT}" '
        f'rx="{round_}"/>' + _text(node.x, node.y + 4, node.label)
    )


def _edge(source: Node, node: Node, kind: str = "") -> str:
    if kind:  # from one function to the next
        x1, x2 = source.x + source.width / 2, node.x - node.width / 2
        middle = (x1 + x2) / 2
        curve = f"C{middle:.1f} {source.y:.1f} {middle:.1f} {node.y:.1f}"
        return f'<path class="{kind}" d="M{x1:.1f} {source.y:.1f}{curve} {x2:.1f} {node.y:.1f}"/>'
    y1, y2 = source.y + _HEIGHT / 2, node.y - _HEIGHT / 2
    middle = (y1 + y2) / 2
    curve = f"C{source.x:.1f} {middle:.1f} {node.x:.1f} {middle:.1f}"
    return f'<path d="M{source.x:.1f} {y1:.1f}{curve} {node.x:.1f} {y2:.1f}"/>'


# ---- the drawings --------------------------------------------------------------------------------


def _traced(function: Callable[..., Any], *shapes: tuple[int, ...]) -> tuple[mlir.Module, str]:
    arguments = [irax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    ir = irax.make_ir(function)(*arguments)
    return mlir.clone_module(ir.module), ir.func


def reverse_mode() -> str:
    """The function x sin x, split by `linearize`, and its linear part after `transpose`."""

    def f(x):
        return jnp.sin(x) * x

    module, name = _traced(f, ())
    api.vjp(module, name, (0,))
    kept = ["cos x", "x", "sin x"]
    panels = [
        panel(module, "f", "f", ["x"], ["y"]),
        panel(module, "f.fwd", "f.fwd: the result and residuals", ["x"], ["y", *kept]),
        panel(module, "f.lin", "f.lin: linear in dx", [*kept, "dx"], ["dy"], [3]),
        panel(module, "f.bwd", "f.bwd: f.lin, transposed", [*kept, "ȳ"], ["x̄"], [3]),
    ]
    return draw(panels)


def batching() -> str:
    """A layer, and the layer for eight inputs."""

    def layer(w, x):
        return jnp.tanh(w @ x)

    module, name = _traced(layer, (4, 3), (3,))
    api.batch(module, name, 8, (None, 0))
    return draw(
        [
            panel(module, "layer", "layer", ["w 4x3", "x 3"], ["y 4"]),
            panel(module, "layer.batch", "layer.batch", ["w 4x3", "x 8x3"], ["y 8x4"]),
        ]
    )


def module_of_others() -> str:
    """The module of the tutorial on them, and its gradient with respect to `w`."""
    text = (FOLDER.parent / "tutorials" / "modules.md").read_text("utf-8")
    source = Source(api.parse(text.partition("```mlir\n")[2].partition("```")[0]), "main")
    gradient = derive.grad(source, (0,), value=True)
    names = ["w 3", "x 3", "y"]
    return draw(
        [
            panel(source.module, "main", "in.mlir", names, ["loss"]),
            panel(gradient.module, "main", "gradient.mlir", names, ["loss", "gradient 3"]),
        ]
    )


def call() -> str:
    """A call of a jitted function: the stages, with the passes of the target and IREE's phases."""
    names = [str(one).partition("{")[0] for one in targets.find("iree-cpu").passes]
    names = [name.removeprefix("func.func(").removesuffix(")") for name, _ in groupby(names)]
    return _stages(
        {
            "Python: jit(f)(x)": ["the signature of x is known:", "its program runs at once"],
            "trace": ["f runs on tracers", "each operation is recorded"],
            "StableHLO": ["a module with the function f", "grad and vmap have rewritten it"],
            "lower": names,
            "IREE": PHASES,
            "run": ["the artefact is kept in the cache", "buffers in, buffers out"],
        }
    )


def deployment() -> str:
    """The way of a function into a file, and to a machine without a compiler."""
    return _stages(
        {
            "model.py": ["predict(x)", "Python, and its parameters"],
            "irax compile": ["trace", "lower", "IREE's compiler"],
            "predict.irax": ["names and types", "the function, as StableHLO", "machine code"],
            "irax_runtime.load": ["checks what it is given", "runs the machine code"],
            "serve.py": ["NumPy arrays in and out", "no compiler"],
        }
    )


def _stages(stages: Mapping[str, Sequence[str]]) -> str:
    """Boxes from left to right, in rows that fit a page: their titles, and lines."""
    parts: list[str] = []
    left, top, right, height = 10.0, 10.0, 0.0, 0.0
    for i, (title, lines) in enumerate(stages.items()):
        columns = [lines[n : n + _LINES] for n in range(0, len(lines), _LINES)]
        widths = [max(6.2 * len(line) for line in column) + 12 for column in columns]
        width = max(8.0 * len(title), sum(widths)) + 12
        if i and left + width > _WIDEST:
            left, top, height = 34.0, top + height + 14, 0.0
        if i:
            parts.append(f'<path d="M{left - 22:.0f} {top + 20:.0f}h20"/>')
        box = 60 + 15 * min(_LINES, len(lines))
        parts.append(
            f'<rect class="box" x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" '
            f'height="{box}" rx="8"/>'
        )
        parts.append(_text(left + width / 2, top + 24, title, "head"))
        x = left + (width - sum(widths)) / 2
        for column, wide in zip(columns, widths, strict=True):
            parts += [
                _text(x + wide / 2, top + 50 + 15 * n, line, "small")
                for n, line in enumerate(column)
            ]
            x += wide
        left += width + 24
        right, height = max(right, left - 14), max(height, box)
    return _svg(right, top + height + 10, parts)


def colors() -> str:
    """The Jacobian of an equation on a grid, whose elements have the color of their product."""

    def equations(u: Any) -> Any:
        p = jnp.pad(u, 1)
        around = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
        return around - 4 * u + 0.01 * jnp.exp(u)

    pattern = irax.sparse.sparsity(equations)(jnp.zeros((6, 6)))
    return irax.sparse.color(pattern).spy("svg")


DRAWINGS: Mapping[str, Callable[[], str]] = {
    "call.svg": call,
    "reverse-mode.svg": reverse_mode,
    "batching.svg": batching,
    "colors.svg": colors,
    "tutorial-modules.svg": module_of_others,
    "tutorial-deployment.svg": deployment,
}


def main() -> None:
    """Write them all."""
    for name, make in DRAWINGS.items():
        (FOLDER / name).write_text(make(), "utf-8")


if __name__ == "__main__":
    main()
