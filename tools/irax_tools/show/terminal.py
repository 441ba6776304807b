"""The stages as text: MLIR, with the source and the costs of its operations as comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import click

from irax_compiler import mlir
from irax_compiler.mlir import Module
from irax_tools.show.model import Body, Page, Stage
from irax_tools.show.way import Way, walk
from irax_tools.sources import Source


def texts_of(page: Page) -> list[tuple[str, str]]:
    """Each stage's pass, and its module."""
    return [(stage.full_name, "\n".join(_stage_lines(page, stage))) for stage in page.stages]


def modules_of(source: Source, way: Way) -> list[tuple[str, str]]:
    """Each stage's pass, and its module as MLIR writes it, with locations."""
    found: list[tuple[str, str]] = []

    def keep(step: str, _group: str, module: Module, _entry: str) -> None:
        found.append((step, mlir.text_of(module.operation, True).rstrip()))

    walk(source, way, keep)
    return found


def _stage_lines(page: Page, stage: Stage) -> Iterator[str]:
    for told in () if page.digits is None else page.digits.told:
        yield f"// {told}"
    if stage.entry:
        least = "at least " if stage.uncounted else ""
        yield f"// {least}{_cost(*_total(page, stage))} in a call of @{stage.entry}"
    for index, calls in stage.bodies:
        yield from _body_lines(page, page.bodies[index], (calls or 1) if stage.entry else 1)


def _body_lines(page: Page, body: Body, calls: float) -> Iterator[str]:
    last = ""
    costly = {} if page.digits is None else {x.frame[:2]: x for x in page.digits.lines}
    for i, text in enumerate(body.text):
        frames = page.locations[body.location[i]] if body.location[i] >= 0 else []
        file = page.files[frames[0][0]] if frames else None
        place = "" if file is None else f"{file.name}:{frames[0][1]}"
        if file is not None and place != last and file.language != "mlir":
            line = file.lines[frames[0][1] - 1].strip() if frames[0][1] <= len(file.lines) else ""
            indent = text[: len(text) - len(text.lstrip())]
            yield f"{indent}// {place}  {line}".rstrip()
            found = costly.get(frames[0][:2])
            if found is not None and (found.digits >= 0.05 or found.notes):
                told = "; ".join([f"costs {found.digits:.1f} digits", *found.notes])
                yield f"{indent}// {told}"
        if body.operation[i]:
            last = place
        cost = _cost(*(n[i] * calls for n in (body.flops, body.transcendentals, body.bytes)))
        yield f"{text}  // {cost}" if cost else text


def _total(page: Page, stage: Stage) -> tuple[float, float, float]:
    def sum_of(kind: str) -> float:
        return sum(calls * sum(getattr(page.bodies[i], kind)) for i, calls in stage.bodies)

    return sum_of("flops"), sum_of("transcendentals"), sum_of("bytes")


def _cost(flops: float, transcendentals: float, size: float) -> str:
    kinds = ((flops, "flops"), (transcendentals, "transcendental"), (size, "bytes"))
    return ", ".join(f"{short(number)} {kind}" for number, kind in kinds if number)


def short(number: float) -> str:
    """A number in three digits: 12, 1.23k, 45.6M.

    >>> short(5530), short(999950)
    ('5.53k', '1.00M')
    """
    units = iter("kMGTPE")
    unit = ""
    while number >= (1000 if not unit else 999.5):
        number, unit = number / 1000, next(units)
    digits = 2 - (number >= 9.995) - (number >= 99.95)
    return f"{number:.{digits}f}{unit}" if unit else f"{number:.4g}"


_TOKENS = re.compile(
    r"(?P<comment>//.*)"
    r'|(?P<string>"(?:[^"\\]|\\.)*")'
    r"|(?P<value>%[\w$.#-]+)"
    r"|(?P<symbol>@[\w$.-]+)"
    r"|(?P<type>(?:![\w.]+|\b(?:tensor|complex|vector|memref))<(?:[^<>]|<[^<>]*>)*>)"
    r"|(?P<operation>\b(?:func|stablehlo|chlo)\.\w+|^\s*return\b)",
    re.MULTILINE,
)
_STYLES: dict[str, dict[str, Any]] = {
    "comment": {"dim": True},
    "string": {"fg": "yellow"},
    "value": {"fg": "cyan"},
    "symbol": {"fg": "magenta"},
    "type": {"fg": "green"},
    "operation": {"bold": True},
}


def coloured(text: str) -> str:
    """MLIR's text with a terminal's colours."""
    return _TOKENS.sub(lambda m: click.style(m[0], **_STYLES[m.lastgroup or ""]), text)
