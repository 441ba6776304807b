"""Modules in notebooks: the page of `irax show`, in a frame. An entry point imports this."""

from __future__ import annotations

import html as markup

from irax.ir import IR, register_viewer
from irax_tools.show.page import html_of
from irax_tools.show.record import record
from irax_tools.show.way import Way
from irax_tools.sources import Source

_LARGEST = 8 << 20
"""Characters of a page above which a module is shown as text: notebooks keep their output."""
_STYLE = "width: 100%; height: 36rem; border: 1px solid #8884; border-radius: 6px"


def page_of(ir: IR) -> str:
    """The page of a module. That of a gradient begins with the function, and shows how the gradient
    is derived.
    """
    way = Way()
    if ir.gradient_of is not None:
        ir, wrt = ir.gradient_of()
        way = Way(grad=True, wrt=wrt)
    page, _ = record(Source(ir.module, ir.func, is_traced=True), way)
    return html_of(page)


def framed(ir: IR) -> str | None:
    """A frame with all stages of a module, and the error of a pass that fails; None for a module
    that would make too large a page.
    """
    text = page_of(ir)
    if len(text) > _LARGEST:
        return None
    return f'<iframe srcdoc="{markup.escape(text)}" style="{_STYLE}"></iframe>'


register_viewer(framed, page_of)
