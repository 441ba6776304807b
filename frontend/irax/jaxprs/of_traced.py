"""The jaxpr of a jitted function that was traced.

Jaxprs bind primitives by jit, so `stages` knows nothing of them: the property is attached here.
"""

from __future__ import annotations

from typing import Any

from irax.stages import Traced
from irax_compiler.importing import import_module


def _jaxpr(self: Traced) -> Any:
    """The function as a jaxpr, as `make_jaxpr` gives it.

    >>> print(irax.jit(irax.numpy.sin).trace(1.0).jaxpr)
    { lambda ; a:f32[]. let b:f32[] = sin a in (b,) }
    """
    views = import_module("irax.jaxprs.views")  # seldom asked for, and slow to import
    traced = self._traced.traced
    weak = [aval.weak_type for aval in self._traced.argument_avals()]
    return views.jaxpr_of_function(traced.builder, traced.name, traced.captures, weak)


def attach() -> None:
    """Attach the property."""
    Traced.jaxpr = property(_jaxpr)
