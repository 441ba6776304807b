"""Cures for booleans and integers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import bitwise, conversion
from irax_compiler.ops.core import read
from irax_compiler.passes.legalize.cure import cure


@cure("stablehlo.add")
def add_of_booleans(operation: Operation) -> Sequence[Value] | None:
    """IREE adds booleans modulo 2; StableHLO's sum of booleans is "or"."""
    if dtype_of(operation.results[0]) != np.bool_:
        return None
    return [bitwise.or_(*operation.operands)]


@cure("stablehlo.reverse")
def reverse_of_unsigned(operation: Operation) -> Sequence[Value] | None:
    """IREE refuses to reverse unsigned integers: reverse the same bits as signed ones."""
    (x,) = operation.operands
    dtype = dtype_of(x)
    if dtype.kind != "u":
        return None
    signed = np.dtype(f"i{dtype.itemsize}")
    flipped = read(operation).build([conversion.BitcastConvert(shape_of(x), signed)(x)])
    return [conversion.BitcastConvert(shape_of(x), dtype)(flipped[0])]
