"""The examples in docs/ do what is written below them.

A block of Python runs after those before it in the same file; the block of text that follows it is
what it prints, and the error that it ends with, if any.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import linecache
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
FILES = [path for path in sorted(DOCS.glob("*.md")) if "```python\n" in path.read_text("utf-8")]


def outcome(source: str, names: dict[str, object]) -> str:
    """The output of a block, and its error."""
    lines = source.splitlines(keepends=True)
    linecache.cache["example.py"] = (len(source), None, lines, "example.py")
    printed = io.StringIO()
    error = ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(source, "example.py", "exec"), names)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}\n"
    return printed.getvalue() + error


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_examples(path: Path) -> None:
    blocks = BLOCK.findall(path.read_text("utf-8")) + [("", "")]
    names: dict[str, object] = {"__name__": "example"}
    for (language, source), (following, text) in itertools.pairwise(blocks):
        if language == "python":
            expected = text if following == "text" else ""
            assert outcome(source, names) == expected, source
