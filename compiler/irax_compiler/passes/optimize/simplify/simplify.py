"""The pass simplify, which applies the patterns until none applies."""

from __future__ import annotations

from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Module
from irax_compiler.passes.core import Pass, register_pass
from irax_compiler.passes.optimize.simplify import (
    arithmetic,
    branches,
    carries,
    constants,
    contraction,
    indexing,
    movement,
    places,
    reduction,
    signs,
    steps,
    sums,
)
from irax_compiler.passes.rewriting import Pattern, rewrite_greedily

PATTERNS: tuple[Pattern, ...] = tuple(
    pattern
    for family in (
        *(constants, arithmetic, contraction, indexing, places, movement, reduction, signs),
        *(sums, branches, steps, carries),
    )
    for pattern in vars(family).values()
    if isinstance(pattern, Pattern)
)
"""The patterns in the order in which they are tried."""


@register_pass
class Simplify(Pass):
    """Applies the simplification patterns until none applies, and removes dead operations.

    Values do not change, nan and infinities included, except in sums of floats: their terms may be
    added in another order, and a sum that is zero may have the other sign.
    """

    name: ClassVar[str] = "simplify"

    def run(self, module: Module) -> None:
        for function in mlir.functions(module).values():
            rewrite_greedily(function, PATTERNS)
