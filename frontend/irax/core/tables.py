"""Tables of HTML, as which notebooks show objects."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

_NUMBER = ' style="text-align: right"'
_TEXT = ' style="text-align: left"'


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """Return a table; numbers are to the right, and texts are shown as they are. Without rows it
    is its caption.

    >>> table(["a"], [["<"]])
    '<table><thead><tr><th style="text-align: left">a</th></tr></thead><tbody><tr>\
<td style="text-align: left">&lt;</td></tr></tbody></table>'
    """
    told = f"<caption{_TEXT}>{html.escape(caption)}</caption>" if caption else ""
    listed = [[_shown(cell) for cell in row] for row in rows]
    if not listed:
        return f"<table>{told}</table>"
    numeric = [all(row[i][1] for row in listed) for i in range(len(heads))]
    sides = [_NUMBER if is_number else _TEXT for is_number in numeric]
    head = "".join(f"<th{s}>{html.escape(h)}</th>" for h, s in zip(heads, sides, strict=True))
    cells = (
        "".join(f"<td{s}>{cell}</td>" for (cell, _), s in zip(row, sides, strict=True))
        for row in listed
    )
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table>{told}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _shown(cell: object) -> tuple[str, bool]:
    """A cell as text, and True if it is a number."""
    if isinstance(cell, int | float):
        return (f"{cell:,}" if isinstance(cell, int) else f"{cell:,.3f}"), True
    return html.escape(str(cell)), False
