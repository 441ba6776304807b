"""The model as one page of HTML, which needs nothing else: no network, no other files."""

from __future__ import annotations

import html
import json
from dataclasses import asdict
from functools import cache
from importlib import resources

from irax_tools.show.model import Page

SCRIPTS = (
    "text",
    "data",
    "diff",
    "rows",
    "list",
    "ir",
    "source",
    "details",
    "stages",
    "flame",
    "digits",
    "sparsity",
    "functions",
    "main",
)
"""The page's script, in the order in which its parts build on each other."""


def html_of(*pages: Page) -> str:
    """The page of a function, or of several, of which one is seen at a time."""
    models = [asdict(page) for page in pages]
    data = json.dumps(models, separators=(",", ":"), ensure_ascii=False)
    parts = {
        "title": html.escape(", ".join(page.title for page in pages)),
        "style": asset("style.css"),
        "script": "\n".join(asset(f"{name}.js") for name in SCRIPTS),
        "data": data.replace("<", "\\u003c"),  # so that nothing in it ends the element it is in
    }
    text = asset("page.html")
    for name, part in parts.items():
        before, _, after = text.partition(f"{{{{{name}}}}}")
        text = before + part + after
    return text


@cache
def asset(name: str) -> str:
    """The text of one of the files that the page is made of."""
    return resources.files("irax_tools.show").joinpath("assets", name).read_text("utf-8")
