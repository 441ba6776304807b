"""Legalizations of operations that IREE cannot compile to SPIR-V, the code of Vulkan devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import bitwise, comparison, conversion, dot, elementwise, shape
from irax_compiler.ops.core import constant, full
from irax_compiler.ops.formula import Number
from irax_compiler.ops.reductions.reduce_window import ReduceWindow
from irax_compiler.ops.registry import read
from irax_compiler.passes.legalization import legalizes
from irax_compiler.passes.legalize.iree.convolution import apart
from irax_compiler.passes.rewriting import read_as

FLOAT32 = np.dtype(np.float32)
UINT32 = np.dtype(np.uint32)


@legalizes("stablehlo.select", kind="missing", of="IREE")
def select_of_complex(operation: Operation) -> Sequence[Value] | None:
    """SPIR-V has no complex numbers to choose from: their parts are chosen."""
    which, x, y = operation.operands
    if dtype_of(x).kind != "c":
        return None
    parts = [
        comparison.select(which, part(x), part(y)) for part in (elementwise.real, elementwise.imag)
    ]
    return [elementwise.complex_(*parts)]


@legalizes("stablehlo.convert", kind="missing", of="IREE")
def convert_of_booleans(operation: Operation) -> Sequence[Value] | None:
    """IREE takes these for signed integers of one bit, which it has no SPIR-V for."""
    (x,) = operation.operands
    dtype = dtype_of(operation.results[0])
    if dtype_of(x) != np.bool_ or dtype in (np.bool_, np.complex64):
        return None
    return [comparison.select(x, full(shape_of(x), 1, dtype), full(shape_of(x), 0, dtype))]


@legalizes("stablehlo.reduce_window", kind="bug", of="IREE")
def windows_of_complex(operation: Operation) -> Sequence[Value] | None:
    """IREE crashes on these: sums are those of the parts, what else there is follows its
    definition.
    """
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
    """IREE counts bfloat16 with bits of another width: it is counted in float32."""
    op = read_as(shape.Iota, operation)
    if op is None or not inexact(op.dtype) or op.dtype.itemsize > 2:
        return None
    return [conversion.convert(apart(replace(op, dtype=FLOAT32)()), op.dtype)]


@legalizes("stablehlo.count_leading_zeros", kind="bug", of="IREE")
def leading_zeros_of_narrow(operation: Operation) -> Sequence[Value] | None:
    """SPIR-V looks for bits in 32-bit integers alone."""
    (x,) = operation.operands
    dtype = dtype_of(x)
    if dtype.itemsize >= 4:
        return None
    unsigned = Number(x).bits(f"u{dtype.itemsize}").value
    count = bitwise.count_leading_zeros(conversion.convert(unsigned, UINT32))
    return [(Number(count) - (32 - 8 * dtype.itemsize)).to(dtype).value]


# ---- sums of products ----------------------------------------------------------------------------


@legalizes("stablehlo.dot_general", kind="bug", of="IREE", reproduction="contraction_of_computed")
def contraction_of_complex(operation: Operation) -> Sequence[Value] | None:
    """IREE makes parts of operands where they are multiplied (see `contraction_of_computed`): they
    are made before.
    """
    op = read_as(dot.DotGeneral, operation)
    if op is None or op.dtype.kind != "c":
        return None
    real = replace(op, dtype=FLOAT32)
    x, y = operation.operands
    (a, b), (u, v) = (
        [apart(p) for p in (elementwise.real(z), elementwise.imag(z))] for z in (x, y)
    )
    return [
        elementwise.complex_(
            elementwise.subtract(real(a, u), real(b, v)), elementwise.add(real(a, v), real(b, u))
        )
    ]


@legalizes("stablehlo.convolution", "stablehlo.dot_general", kind="bug", of="IREE")
def contraction_of_computed(operation: Operation) -> Sequence[Value] | None:
    """Some of what is multiplied IREE computes where it is multiplied, by several threads, which do
    not wait for each other: all is computed before.
    """
    computed = [_is_computed(x) for x in operation.operands]
    if not any(computed):
        return None
    pairs = zip(operation.operands, computed, strict=True)
    return read(operation).build([apart(x) if flag else x for x, flag in pairs])


def _is_computed(x: Value) -> bool:
    made = mlir.definition(x)
    return made is not None and made.name not in _KERNELS


_KERNELS = {
    f"stablehlo.{name}"
    for name in ("convolution", "dot_general", "optimization_barrier", "reduce", "transpose")
}
"""The operations that IREE compiles to a kernel of their own, or fuses with a product correctly."""


@legalizes("stablehlo.convolution", "stablehlo.dot_general", kind="bug", of="IREE")
def products_alone(operation: Operation) -> Sequence[Value] | None:
    """Nor do they wait for each other where something is computed along with small products of a
    batch, or some convolutions: it is computed after them.
    """
    (result,) = operation.results
    if len(shape_of(result)) <= 2:
        return None
    return [apart(operation.clone().operation.results[0])]


@legalizes("stablehlo.reduce", kind="bug", of="IREE")
def reduction_alone(operation: Operation) -> Sequence[Value] | None:
    """Nor do they wait for the one that has widened what they sum, or has summed what they use in
    what is computed along with it.
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
    """IREE has no SPIR-V for arrays of different complex numbers: they are put together."""
    if dtype_of(operation.results[0]).kind != "c" or mlir.splat(operation.results[0]) is not None:
        return None
    value = mlir.dense_to_numpy(operation)
    return [elementwise.complex_(constant(np.real(value)), constant(np.imag(value)))]
