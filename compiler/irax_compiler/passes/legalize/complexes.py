"""Cures for complex128: IREE has no way to fill memory with elements of 128 bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.ops import shape
from irax_compiler.ops.core import constant, read
from irax_compiler.passes.legalize.cure import cure


def _complex(real: Value, imaginary: Value) -> Value:
    return mlir.emit("stablehlo.complex", [real, imaginary]).results[0]


@cure("stablehlo.constant")
def constant_of_complex128(operation: Operation) -> Sequence[Value] | None:
    """IREE's compiler divides by zero on these: they are put together from their two parts."""
    if dtype_of(operation.results[0]) != np.complex128:
        return None
    value = mlir.dense_to_numpy(operation)
    return [_complex(constant(np.real(value)), constant(np.imag(value)))]


@cure("stablehlo.pad")
def pad_of_complex128(operation: Operation) -> Sequence[Value] | None:
    """IREE refuses to pad these: their two parts are padded."""
    if dtype_of(operation.results[0]) != np.complex128:
        return None
    op = read(operation)
    assert isinstance(op, shape.Pad)
    parts = [
        op(*(mlir.emit(f"stablehlo.{part}", [x]).results[0] for x in operation.operands))
        for part in ("real", "imag")
    ]
    return [_complex(*parts)]
