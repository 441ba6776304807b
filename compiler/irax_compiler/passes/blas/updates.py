"""Sums of an array and a multiple of a product, such as a step of gradient descent.

BLAS multiplies and adds in one call. That pays where the sum would be a pass over memory of its
own: where the array lies in memory, and operations that IREE does not fuse read the sum.

The sum of the product's terms is added without being rounded first, in parts if it has many terms:
a result may differ by some units in the last place of the array's elements, as it does where a
compiler fuses a multiplication and an addition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value
from irax_compiler.ops import elementwise, shape
from irax_compiler.ops.dot import DotGeneral

SUMS = elementwise.add.name, elementwise.subtract.name
"""The names of operations that may be updates."""
_IN_MEMORY = DotGeneral.name, "flow.dispatch"
"""Operations whose results are in memory."""
_READERS = *_IN_MEMORY, "func.return", "stablehlo.return"
"""Operations that read their operands from memory."""


@dataclass(frozen=True)
class Update:
    """The sum of an array and a multiple of a product."""

    array: Value
    factor: float
    product: Value
    """The result of a `dot_general`, or of a transpose of that."""

    @property
    def dot_general(self) -> Operation | None:
        """The operation that multiplies."""
        source = mlir.definition(self.product)
        if source is not None and source.name == shape.Transpose.name:
            source = mlir.definition(source.operands[0])
        return source if source is not None and source.name == DotGeneral.name else None


def update_of(operation: Operation) -> Update | None:
    """Return the update that a sum or difference is; None if it is none that BLAS has a call for,
    or it would not pay.
    """
    if any(use.owner.operation.name not in _READERS for use in operation.results[0].uses):
        return None
    x, y = operation.operands
    is_difference = operation.name == elementwise.subtract.name
    for array, term in ((x, y),) if is_difference else ((x, y), (y, x)):
        factor, product = _multiple(term)
        update = Update(array, -factor if is_difference else factor, product)
        # BLAS does not multiply by zero: infinities would not become NaN.
        if factor and np.isfinite(factor) and _is_in_memory(array) and _is_product(update):
            return update
    return None


def _multiple(x: Value) -> tuple[float, Value]:
    """Split a real value into a constant factor and the rest."""
    source = mlir.definition(x)
    if source is None or source.name != elementwise.multiply.name or mlir.num_uses(x) > 1:
        return 1.0, x
    for factor, rest in (source.operands, reversed(source.operands)):
        number = mlir.splat(factor)
        if number is not None and number.dtype.kind == "f":
            return float(number), rest
    return 1.0, x


def _is_product(update: Update) -> bool:
    """True if the product has no other user, so that it need not be in memory."""
    source = update.dot_general
    return (
        source is not None
        and mlir.num_uses(update.product) == mlir.num_uses(source.results[0]) == 1
    )


def _is_in_memory(x: Value) -> bool:
    source = mlir.definition(x)
    return source is None or source.name in _IN_MEMORY
