"""The tutorials as Jupyter notebooks, made of their pages.

A block of Python is a cell, and the text below it is its output. Commands, and the files that they
take, are cells with the magics `%%sh` and `%%writefile`. Pictures are in the notebook itself.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from website.links import LINK

DOCS = Path(__file__).parents[1] / "docs"
TUTORIALS = tuple(sorted(p.stem for p in (DOCS / "tutorials").glob("*.md") if p.stem != "index"))
"""The names of the tutorials."""
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"# (\w+\.py)\n")

Cell = dict[str, Any]


def notebook(tutorial: str) -> str:
    """The notebook of a tutorial, as JSON in Jupyter's format 4.5."""
    cells: list[Cell] = []
    parts = _BLOCK.split((DOCS / "tutorials" / f"{tutorial}.md").read_text("utf-8"))
    for i, prose in enumerate(parts[::3]):
        if prose.strip():
            cells.append(_prose(prose.strip()))
        if 3 * i + 2 < len(parts):
            kind, text = parts[3 * i + 1 : 3 * i + 3]
            if kind == "text" and not prose.strip():
                cells[-1]["outputs"] = [
                    {"output_type": "stream", "name": "stdout", "text": _lines(text)}
                ]
            else:
                cells.append(_code(kind, text))
    for i, cell in enumerate(cells):
        cell["id"] = f"cell-{i}"
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    whole = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _prose(text: str) -> Cell:
    """A cell of text. Links to other pages, which a reader of the notebook lacks, are text."""
    attachments: dict[str, dict[str, str]] = {}

    def link(match: re.Match[str]) -> str:
        mark, title, address = match.groups()
        if mark:
            picture = DOCS / "tutorials" / address
            content = base64.b64encode(picture.read_bytes()).decode()
            attachments[picture.name] = {"image/svg+xml": content}
            return f"![{title}](attachment:{picture.name})"
        return match[0] if "://" in address else title

    cell: Cell = {"cell_type": "markdown", "metadata": {}, "source": _lines(LINK.sub(link, text))}
    return cell | {"attachments": attachments} if attachments else cell


def _code(kind: str, text: str) -> Cell:
    if kind == "sh":
        text = f"%%sh\n{text}"
    elif kind == "mlir":
        text = f"%%writefile in.mlir\n{text}"
    elif kind == "py" and (name := _FILE.match(text)):
        text = f"%%writefile {name[1]}\n{text}"
    elif kind != "python":
        raise ValueError(f"a tutorial has a block of {kind!r}; expected python, sh, mlir or py")
    return {
        "cell_type": "code",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": _lines(text.rstrip("\n")),
    }


def _lines(text: str) -> Sequence[str]:
    return text.splitlines(keepends=True)
