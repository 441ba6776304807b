"""docs/errors.md: exceptions lead to the sections that are about them."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

import irax.errors
from irax.core import error_page

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / error_page.PAGE).read_text("utf-8")
TITLES = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)


def heading(title: str) -> str:
    return re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")


def raised(blocks: list[str]) -> dict[str, list[BaseException]]:
    """The exceptions of each section; blocks go on from those before them."""
    there: dict[str, object] = {}
    found: dict[str, list[BaseException]] = {}
    title = ""
    for text in blocks:
        if text.startswith("## "):
            title = text[3:]
            continue
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(text, "example.py", "exec"), there)
        except Exception as error:
            found.setdefault(heading(title), []).append(error)
    return found


def test_each_section_is_named_by_what_it_raises():
    blocks = re.findall(r"^(## [^\n]*)$|^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    found = raised([title or text for title, text in blocks])
    assert list(found) == [heading(title) for title in TITLES]
    for section, errors in found.items():
        for error in errors:
            note = f"Its cure, with an example: {error_page.PAGE}#{section}"
            assert note in getattr(error, "__notes__", ()), (section, error)


def test_every_exception_is_on_the_page():
    there = [
        n for n, x in vars(irax.errors).items() if isinstance(x, type) and issubclass(x, Exception)
    ]
    assert [name for name in there if f"`{name}`" not in PAGE] == []


def test_other_errors_lead_nowhere():
    with pytest.raises(TypeError) as info:
        raise TypeError("of the user")
    assert not [*error_page.notes_on(info.value, ())]
