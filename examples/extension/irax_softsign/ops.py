"""An op with all its rules: softsign, x / (1 + |x|).

In a module it is a composite, whose decomposition is made from the formula; so every target can run
it, and other tools too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from irax_compiler.ops.composite import register_composed
from irax_compiler.ops.formula import Number
from irax_compiler.ops.special.series import Smooth


@register_composed
@dataclass(frozen=True)
class Softsign(Smooth):
    """x / (1 + |x|), elementwise."""

    name = "softsign.softsign"

    def formula(self, *operands: Number) -> Number:
        (x,) = operands
        return x / (abs(x) + 1)

    def slopes(self, y: Number, *operands: Number) -> Sequence[Number | None]:
        """The derivative is the square of 1 - |y|, at the result y."""
        rest = 1 - abs(y)
        return [rest * rest]
