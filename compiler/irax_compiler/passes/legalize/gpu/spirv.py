"""Legalizations of operations that IREE cannot compile to SPIR-V, the code of Vulkan devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import barrier, bitwise, comparison, conversion, elementwise, shape
from irax_compiler.ops.core import constant, full
from irax_compiler.ops.formula import Number, is_negative, where
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.passes.legalize.iree.convolution import apart
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.rewriting import read_as

FLOAT32 = np.dtype(np.float32)
UINT32 = np.dtype(np.uint32)


@legalizes("stablehlo.select", kind="missing", of="IREE")
def select_of_complex(operation: Operation) -> Sequence[Value] | None:
    """Select complex numbers by parts, for SPIR-V has none."""
    which, x, y = operation.operands
    if dtype_of(x).kind != "c":
        return None
    parts = [
        comparison.select(which, part(x), part(y)) for part in (elementwise.real, elementwise.imag)
    ]
    return [elementwise.complex_(*parts)]


@legalizes("stablehlo.convert", kind="missing", of="IREE")
def convert_of_booleans(operation: Operation) -> Sequence[Value] | None:
    """Convert booleans explicitly: IREE treats them as signed 1-bit integers, which it cannot
    convert to bfloat16 in SPIR-V.
    """
    (x,) = operation.operands
    dtype = dtype_of(operation.results[0])
    if dtype_of(x) != np.bool_ or dtype in (np.bool_, np.complex64):
        return None
    return [comparison.select(x, full(shape_of(x), 1, dtype), full(shape_of(x), 0, dtype))]


@legalizes(
    "stablehlo.reduce_window",
    kind="bug",
    of="IREE",
    fatal="the compiler of IREE 3.13.0 ends the process, for Vulkan",
)
def windows_of_complex(operation: Operation) -> Sequence[Value] | None:
    """Reduce windows of complex numbers by parts, or by their definition: IREE crashes on them."""
    op = read_as(ReduceWindow, operation)
    if op is None or dtype_of(operation.operands[0]).kind != "c":
        return None
    operands = list(operation.operands)
    if op.computation != "add":
        return op.define(operands)
    parts = [
        op.build([part(x) for x in operands])[0] for part in (elementwise.real, elementwise.imag)
    ]
    return [elementwise.complex_(*parts)]


@legalizes("stablehlo.iota", kind="bug", of="IREE")
def iota_of_narrow(operation: Operation) -> Sequence[Value] | None:
    """Count in float32: IREE counts bfloat16 in bits of another width."""
    op = read_as(shape.Iota, operation)
    if op is None or not inexact(op.dtype) or op.dtype.itemsize > 2:
        return None
    return [conversion.convert(apart(replace(op, dtype=FLOAT32)()), op.dtype)]


@legalizes("stablehlo.count_leading_zeros", kind="bug", of="IREE")
def leading_zeros_of_narrow(operation: Operation) -> Sequence[Value] | None:
    """Count leading zeros in 32-bit integers, the only ones for which SPIR-V has the operation."""
    (x,) = operation.operands
    dtype = dtype_of(x)
    if dtype.itemsize >= 4:
        return None
    unsigned = Number(x).bits(f"u{dtype.itemsize}").value
    count = bitwise.count_leading_zeros(conversion.convert(unsigned, UINT32))
    return [(Number(count) - (32 - 8 * dtype.itemsize)).to(dtype).value]


@legalizes("stablehlo.maximum", "stablehlo.minimum", kind="bug", of="IREE")
def extremum_of_zeros(operation: Operation) -> Sequence[Value] | None:
    """Choose of two zeros by their signs: SPIR-V takes either. Combiners of reductions stay as they
    are, for IREE has faster code for these.
    """
    x, y = map(Number, operation.operands)
    if not inexact(x.dtype) or x.dtype.kind == "c" or _is_combiner(operation):
        return None
    splats = [mlir.splat(v.value) for v in (x, y)]
    if any(splat is not None and splat != 0 for splat in splats):
        return None
    found = Number(operation.clone().operation.results[0])
    first, second = (y, x) if operation.name == "stablehlo.maximum" else (x, y)
    return [where(x.equals(y), where(is_negative(x), first, second), found).value]


def _is_combiner(operation: Operation) -> bool:
    around = operation.parent
    return around is not None and traits_of(around.operation).reduces


@legalizes("stablehlo.divide", "stablehlo.remainder", kind="missing", of="IREE")
def unsigned_division(operation: Operation) -> Sequence[Value] | None:
    """Divide unsigned integers as signed ones: IREE does not compile unsigned divisions of vectors
    to SPIR-V. Dividends are negated, since IREE makes an unsigned division of one of numbers that
    are not negative.
    """
    x, y = map(Number, operation.operands)
    dtype = x.dtype
    if dtype.kind != "u":
        return None
    found = _wide_quotient(x, y) if dtype.itemsize >= 4 else _narrow_quotient(x, y)
    quotient = where(y.equals(0), (1 << 8 * dtype.itemsize) - 1, found)
    return [(quotient if operation.name == "stablehlo.divide" else x - quotient * y).value]


def _narrow_quotient(x: Number, y: Number) -> Number:
    found = elementwise.divide((-x.to(np.int32)).value, y.to(np.int32).value)
    return (-Number(found)).to(x.dtype)


def _wide_quotient(x: Number, y: Number) -> Number:
    """The quotient of half of x, doubled, is too small by at most 1. A divisor with the upper bit
    is in x once or not at all.
    """
    signed = np.dtype(f"i{x.dtype.itemsize}")
    half = elementwise.divide((-(x >> 1).bits(signed)).value, y.bits(signed).value)
    quotient = (-Number(half)).bits(x.dtype) << 1
    quotient = where(x - quotient * y < y, quotient, quotient + 1)
    once = where(x < y, 0, Number(full(shape_of(x.value), 1, x.dtype)))
    return where(y.bits(signed) < 0, once, quotient)


@legalizes("stablehlo.remainder", kind="bug", of="IREE")
def remainder_of_signed(operation: Operation) -> Sequence[Value] | None:
    """Compute remainders of signed integers from quotients: for SPIR-V, IREE takes the smallest
    integer, which is its own absolute value, for positive.
    """
    x, y = map(Number, operation.operands)
    if x.dtype.kind != "i":
        return None
    quotient = Number(elementwise.divide(x.value, y.value))
    return [where(y.equals(0), x, x - quotient * y).value]


# ---- sums of products ----------------------------------------------------------------------------


@legalizes("stablehlo.convolution", "stablehlo.dot_general", kind="bug", of="IREE")
def contraction_of_computed_operands(operation: Operation) -> Sequence[Value] | None:
    """Compute a product's operands before it. IREE fuses some of these computations with the
    product, which it does not compile, or does in threads that are not synchronized.
    """
    computed = [_is_computed(x) for x in operation.operands]
    if not any(computed):
        return None
    pairs = zip(operation.operands, computed, strict=True)
    return read(operation).build([apart(x) if flag else x for x, flag in pairs])


def _is_computed(x: Value) -> bool:
    made = mlir.definition(x)
    if made is None or traits_of(made).reduces:
        return False  # IREE compiles reductions to kernels of their own
    return made.name not in (barrier.barrier.name, shape.Transpose.name)


@legalizes("stablehlo.convolution", "stablehlo.dot_general", kind="bug", of="IREE")
def unfused_product(operation: Operation) -> Sequence[Value] | None:
    """Put a barrier behind batched products and convolutions: in a kernel that fuses users with
    them, the threads are not synchronized.
    """
    (result,) = operation.results
    if len(shape_of(result)) <= 2:
        return None
    return [apart(operation.clone().operation.results[0])]


@legalizes("stablehlo.reduce", kind="bug", of="IREE")
def unfused_reduction(operation: Operation) -> Sequence[Value] | None:
    """Put barriers behind a reduction, and between it and conversions of its operands: in a fused
    kernel, the threads are not synchronized.
    """
    clone = operation.clone().operation
    for i, x in enumerate(clone.operands):
        made = mlir.definition(x)
        if made is not None and made.name == "stablehlo.convert":
            with InsertionPoint(clone):
                clone.operands[i] = apart(x)
    return [apart(result) for result in clone.results]


@legalizes("stablehlo.constant", kind="missing", of="IREE")
def constant_of_complex(operation: Operation) -> Sequence[Value] | None:
    """Build constants of complex numbers from their parts: IREE has no SPIR-V for constant arrays
    of them.
    """
    if dtype_of(operation.results[0]).kind != "c" or mlir.splat(operation.results[0]) is not None:
        return None
    value = mlir.dense_to_numpy(operation)
    return [elementwise.complex_(constant(np.real(value)), constant(np.imag(value)))]
