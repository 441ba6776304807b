"""Looking at a function on its way to a program: at a terminal, or as one page of HTML.

way -> record -> model -> terminal, or page
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from irax_tools.show.page import html_of
from irax_tools.show.record import record
from irax_tools.show.way import Way
from irax_tools.sources import Source

if TYPE_CHECKING:
    from irax.ir import IR


def html(
    ir: IR,
    *,
    grad: bool = False,
    wrt: Sequence[int] | None = None,
    vmap: int | None = None,
    in_axes: Sequence[int | None] | None = None,
    target: str = "iree-cpu",
    iree: bool = False,
) -> str:
    """A page of HTML with all stages of a function, which needs no other files.

    Args:
        ir: the function, as `irax.make_ir` traces it.
        grad: whether to take the gradient.
        wrt: the arguments that is with respect to. None is all those of floating-point types.
        vmap: the number of lanes to map the function, or its gradient, over.
        in_axes: the mapped axis of each argument, or None where all lanes have the same.
        target: what to lower for.
        iree: whether to go on through the phases of IREE's compiler.

    Raises:
        ValueError: a pass refuses the function, or there is no such target.

    >>> import irax, irax.numpy as jnp
    >>> html(irax.make_ir(jnp.sin)(1.0)).startswith("<!doctype html>")
    True
    """
    source = Source(ir.module, ir.func, is_traced=True)
    page, failure = record(source, Way(target, grad, wrt, vmap, in_axes, iree=iree))
    if failure is not None:
        raise failure
    return html_of(page)
