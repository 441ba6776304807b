"""The live page: `irax show` of the gradient of a small GPT's loss, as the site has it."""

from __future__ import annotations

import os
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = "show/gpt.html"
"""The page's place in the site."""
SOURCE, ARGUMENTS = "examples/gpt.py:small_loss", "small_arguments()"


_PICTURE = re.compile(r"!\[[^]]*\]\(pictures/show\.png\)\n")
_SELECTED = "irax.nn.gelu"


_THEME = """<script>
{
  const frame = document.querySelector("iframe.live");
  const follow = () => {
    const page = frame.contentDocument?.documentElement;
    const isDark = document.body.dataset.mdColorScheme === "slate";
    if (page) page.dataset.theme = isDark ? "dark" : "light";
  };
  frame.addEventListener("load", follow);
  const changes = { attributes: true, attributeFilter: ["data-md-color-scheme"] };
  new MutationObserver(follow).observe(document.body, changes);
}
</script>"""
"""The frame is dark where the page around it is."""


def framed(markdown: str) -> str:
    """The first page with the live page in a frame, in the place of its picture."""
    source = (ROOT / SOURCE.partition(":")[0]).read_text("utf-8").splitlines()
    line = next(i for i, text in enumerate(source, start=1) if _SELECTED in text)
    frame = (
        f'<iframe class="live" src="{PAGE}#line=0:{line}" loading="lazy"\n'
        f'title="irax show: the gradient of a loss"></iframe>\n{_THEME}\n\n'
        f"[The page by itself]({PAGE}).\n"
    )
    text, count = _PICTURE.subn(frame, markdown)
    assert count == 1, "docs/index.md has no picture whose place the live page takes"
    return text


def page() -> str:
    """The page that `irax show examples/gpt.py:small_loss --args "small_arguments()" --grad --times
    --html` writes, with the paths of the repository.
    """
    from irax_tools import sources
    from irax_tools.cost.page import timing
    from irax_tools.show.page import html_of
    from irax_tools.show.record import record
    from irax_tools.show.way import Way

    source = sources.load(str(ROOT / SOURCE), ARGUMENTS)
    way = Way(grad=True)
    found, failure = record(source, way, [timing(source, way, lambda line: None)])
    if failure is not None:
        raise failure
    for file in found.files:
        file.path = os.path.relpath(file.path, ROOT)
    return html_of(found)
