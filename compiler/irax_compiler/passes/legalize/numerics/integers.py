"""Legalizations of booleans and integers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import bitcast, bitwise, conversion
from irax_compiler.ops.core import constant
from irax_compiler.ops.registry import read
from irax_compiler.passes.legalize.legalization import legalizes


@legalizes("stablehlo.constant", kind="bug", of="XLA")
def constant_of_booleans(operation: Operation) -> Sequence[Value] | None:
    """Write boolean constants as conversions of bytes: MLIR's text has long ones in hexadecimal, of
    which XLA reads another number of digits.
    """
    (result,) = operation.results
    if dtype_of(result) != np.bool_ or mlir.splat(result) is not None:
        return None
    written = constant(mlir.dense_to_numpy(operation).astype(np.uint8))
    return [conversion.convert(written, np.dtype(np.bool_))]


@legalizes("stablehlo.add", kind="bug", of="IREE")
def add_of_booleans(operation: Operation) -> Sequence[Value] | None:
    """Write sums of booleans as "or", which StableHLO defines: IREE adds modulo 2."""
    if dtype_of(operation.results[0]) != np.bool_:
        return None
    return [bitwise.or_(*operation.operands)]


@legalizes("stablehlo.reverse", kind="missing", of="IREE")
def reverse_of_unsigned(operation: Operation) -> Sequence[Value] | None:
    """Reverse unsigned integers as signed ones: IREE refuses unsigned ones."""
    (x,) = operation.operands
    dtype = dtype_of(x)
    if dtype.kind != "u":
        return None
    flipped = read(operation).build([_as_signed(x)])
    return [bitcast.BitcastConvert(shape_of(x), dtype)(flipped[0])]


@legalizes("stablehlo.scatter", "stablehlo.sort", kind="bug", of="IREE")
def scatter_of_unsigned_carry(operation: Operation) -> Sequence[Value] | None:
    """Read the bits of unsigned integers that a loop carries as signed and as unsigned ones again,
    before they are scattered to or sorted. IREE lowers loops by other passes than these, and finds
    no type for what both have.
    """
    places = [i for i, x in enumerate(operation.operands) if _is_unsigned_carry(x)]
    if not places:
        return None
    with_values = operation.clone()
    with mlir.InsertionPoint(with_values):
        for i in places:
            x = operation.operands[i]
            again = bitcast.BitcastConvert(shape_of(x), dtype_of(x))(_as_signed(x))
            with_values.operands[i] = again
    return list(with_values.results)


def _is_unsigned_carry(x: Value) -> bool:
    is_carried = mlir.is_argument(x) and mlir.owner_name(x) == "stablehlo.while"
    return is_carried and dtype_of(x).kind == "u"


def _as_signed(x: Value) -> Value:
    signed = np.dtype(f"i{dtype_of(x).itemsize}")
    return bitcast.BitcastConvert(shape_of(x), signed)(x)
