"""Scalar formulas applied to arrays in one operation."""

from __future__ import annotations

from collections.abc import Callable

from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.elementwise_map import Map
from irax_compiler.ops.formula import Number


def by_scalars(formula: Callable[..., Number], *operands: Value) -> Value:
    """Apply an elementwise formula to arrays of one shape by a `stablehlo.map`. Applied to the
    arrays themselves, IREE would store the intermediate results that the formula uses twice.
    """
    extents = shape_of(operands[0])
    if not extents:
        return formula(*map(Number, operands)).value
    computation = Computation.build(
        [dtype_of(x) for x in operands], lambda *scalars: [formula(*map(Number, scalars)).value]
    )
    return Map(computation, tuple(range(len(extents))))(*operands)
