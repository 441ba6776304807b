"""Legalizations of convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import conversion, elementwise, slicing
from irax_compiler.ops.convolution import Convolution, dilated
from irax_compiler.ops.core import full_like
from irax_compiler.passes.legalize.iree.fusion import comes_from
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.rewriting import read_as

FLOAT32 = np.dtype(np.float32)


@legalizes(
    "stablehlo.convolution",
    kind="bug",
    of="IREE",
    fatal="the compiler of IREE 3.13.0 ends the process",
)
def empty_convolution(operation: Operation) -> Sequence[Value] | None:
    """Replace a convolution with an empty dimension or result, where IREE's compiler divides by
    zero.
    """
    (result,) = operation.results
    if not any(0 in shape_of(x) for x in (*operation.operands, result)):
        return None
    return [full_like(result, 0)]


@legalizes("stablehlo.convolution", kind="bug", of="IREE")
def narrow_convolution(operation: Operation) -> Sequence[Value] | None:
    """Convolve in float32. IREE sums in the dtype of the result, so that errors in float16 and
    bfloat16 grow to percents; and for depthwise convolutions it refuses operands of another dtype
    than the result.
    """
    op = read_as(Convolution, operation)
    if op is None:
        return None
    is_narrow = inexact(op.dtype) and op.dtype.itemsize < FLOAT32.itemsize
    working = FLOAT32 if is_narrow else op.dtype
    if op.dtype == working == dtype_of(operation.operands[0]):
        return None
    operands = [conversion.convert(x, working) for x in operation.operands]
    if op.feature_group_count > 1:  # IREE would take the conversions back into the convolution
        operands = map(apart, operands)
    return [conversion.convert(replace(op, dtype=working)(*operands), op.dtype)]


@legalizes(
    "stablehlo.convolution",
    kind="bug",
    of="IREE",
    fatal="the compiler of IREE 3.13.0 ends the process",
)
def complex_convolution(operation: Operation) -> Sequence[Value] | None:
    """Convolve complex numbers by parts: IREE's compiler crashes on them."""
    op = read_as(Convolution, operation)
    if op is None or op.dtype.kind != "c":
        return None
    part = replace(op, dtype=np.dtype(f"f{op.dtype.itemsize // 2}"))
    return [elementwise.product_of_parts(part, *operation.operands)]


@legalizes("stablehlo.convolution", kind="bug", of="IREE")
def windows_with_unread_elements(operation: Operation) -> Sequence[Value] | None:
    """Crop elements that the last window does not reach, and drop the stride, where a dimension has
    a single window: IREE drops such a dimension without regard to the stride.
    """
    op = read_as(Convolution, operation)
    if op is None:
        return None
    x, y = map(shape_of, operation.operands)
    out = shape_of(operation.results[0])
    dims = op.dimensions
    strides, padding = [], []
    for d, (low, high) in enumerate(op.padding):
        count = out[dims.out[d + 2]]
        window = dilated(y[dims.rhs[d + 2]], op.rhs_dilation[d])
        stride = op.strides[d] if count > 1 else 1
        n = dilated(x[dims.lhs[d + 2]], op.lhs_dilation[d])
        strides.append(stride)
        padding.append((low, (count - 1) * stride + window - n - low if count else high))
    exact = replace(op, strides=tuple(strides), padding=tuple(padding))
    return None if exact == op else [exact(*operation.operands)]


@legalizes("stablehlo.convolution", kind="bug", of="IREE")
def backward_kernel(operation: Operation) -> Sequence[Value] | None:
    """Reverse the kernel before the convolution, or the array before it and the result after it,
    where these are smaller. IREE ignores the reversal in depthwise convolutions, and fuses it
    wrongly into others.
    """
    op = read_as(Convolution, operation)
    if op is None or not any(op.reversal):
        return None
    x, y = operation.operands
    forwards = replace(op, reversal=(False,) * len(op.reversal))
    dims = op.dimensions
    places = [i for i, flag in enumerate(op.reversal) if flag and shape_of(y)[dims.rhs[i + 2]] > 1]
    if not places:
        return [forwards(x, y)]

    def reversed_(array: Value, own: Sequence[int]) -> Value:
        return apart(slicing.Reverse(tuple(own[i + 2] for i in places))(array))

    (result,) = operation.results
    others = prod(shape_of(x)) + prod(shape_of(result))
    is_larger = isinstance(others, int) and others < prod(shape_of(y))
    if is_larger and all(op.strides[i] == 1 for i in places):
        padding = [side[::-1] if i in places else side for i, side in enumerate(op.padding)]
        turned = replace(forwards, padding=tuple(padding))(reversed_(x, dims.lhs), y)
        return [slicing.Reverse(tuple(dims.out[i + 2] for i in places))(apart(turned))]
    return [forwards(x, reversed_(y, dims.rhs))]


@legalizes("stablehlo.convolution", kind="bug", of="IREE")
def convolution_of_moved(operation: Operation) -> Sequence[Value] | None:
    """Put a barrier before operands that are reversed or padded. IREE cannot always fuse a reverse
    into a convolution, and merges an interior pad with the convolution's own padding wrongly.
    """
    op = read_as(Convolution, operation)
    moved = [comes_from(x, _moves) for x in operation.operands]
    if op is None or not any(moved):
        return None
    pairs = zip(operation.operands, moved, strict=True)
    return [op(*(apart(x) if flag else x for x, flag in pairs))]


def _moves(operation: Operation) -> bool:
    return operation.name in ("stablehlo.pad", "stablehlo.reverse")


def apart(x: Value) -> Value:
    """Return the value behind a fusion barrier."""
    return mlir.emit("stablehlo.optimization_barrier", [x], results=[x.type]).results[0]
