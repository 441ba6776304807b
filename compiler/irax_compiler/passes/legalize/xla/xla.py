"""Legalizations of operations that XLA's compilers refuse, or compile with other semantics than
StableHLO's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import bitcast, bitwise, conversion, convolution, shape, slicing
from irax_compiler.ops.computation import named
from irax_compiler.ops.core import Op, full
from irax_compiler.ops.indexing import gather_scatter
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.reduction_builders import reduce_sum
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.reductions.window_shapes import WindowDims
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.rewriting import read_as


@legalizes("stablehlo.reduce_window", kind="bug", of="XLA")
def windows_over_padded(operation: Operation) -> Sequence[Value] | None:
    """Start windows from the identity, and combine with the init value after. XLA does not count
    padding as init values, also where it was added before.
    """
    op = read_as(ReduceWindow, operation)
    if op is None:
        return None
    window = op.window.full()
    bare = replace(window, base_dilations=(), padding=()).full()
    operands = list(operation.operands)
    if window == bare:
        return None
    if not isinstance(op.computation, str):
        return op.define(operands)
    x, init = operands
    neutral = full((), reduce.identity(op.computation, dtype_of(init)), dtype_of(init))
    value, start = mlir.splat(init), mlir.splat(neutral)
    if value is not None and value == start:
        return None
    (folded,) = replace(op, window=bare).build([window.pad()(x, init), neutral])
    (result,) = named(op.computation, dtype_of(init))(
        folded, shape.broadcast_scalar(init, shape_of(folded))
    )
    return [result]


@legalizes("stablehlo.scatter", kind="bug", of="XLA")
def scatter_into_scalar(operation: Operation) -> Sequence[Value] | None:
    """Scatter into an array of one element instead of a scalar, for which XLA's simplifier makes an
    invalid operation.
    """
    op = read_as(Op, operation)
    if not isinstance(op, gather_scatter.Scatter | gather_scatter.ScatterBy):
        return None
    count = len(operation.results)
    operands = list(operation.operands)
    arrays, updates = operands[:count], operands[count + 1 :]
    if shape_of(arrays[0]):
        return None
    batch = shape_of(updates[0])
    dims = WindowDims(collapsed_dims=(0,), index_map=(0,), index_vector_dim=len(batch))
    places = full(batch, 0, np.dtype(np.int32))
    single = [shape.reshape(x, (1,)) for x in arrays]
    results = replace(op, dims=dims).build([*single, places, *updates])
    return [shape.reshape(r, ()) for r in results]


@legalizes("stablehlo.convolution", kind="slow", of="XLA")
def reversed_convolution(operation: Operation) -> Sequence[Value] | None:
    """Reverse the kernel before the convolution, in a fifth of the time: on the CPU, XLA runs a
    convolution with reversal one element at a time.
    """
    op = read_as(convolution.Convolution, operation)
    if op is None or not any(op.reversal):
        return None
    x, y = operation.operands
    spatial = op.dimensions.rhs[2:]
    backwards = tuple(d for d, flag in zip(spatial, op.reversal, strict=True) if flag)
    return [replace(op, reversal=(False,) * len(spatial))(x, slicing.Reverse(backwards)(y))]


@legalizes(
    "stablehlo.bitcast_convert",
    kind="bug",
    of="XLA",
    fatal="the compiler of jaxlib 0.10.2 ends the process",
)
def bitcast_of_booleans(operation: Operation) -> Sequence[Value] | None:
    """Bitcast booleans by shifts: XLA crashes, for its booleans are bytes."""
    (x,), (result,) = operation.operands, operation.results
    of, to = dtype_of(x), dtype_of(result)
    if of == to or np.dtype(bool) not in (of, to):
        return None
    bits, other = (x, to) if of == np.bool_ else (result, of)
    sizes = shape_of(bits)
    word = np.dtype(f"u{other.itemsize}")
    places = shape.Iota(sizes, word, len(sizes) - 1)()
    if of == np.bool_:
        shifted = bitwise.shift_left(conversion.convert(x, word), places)
        joined = reduce_sum(shifted, (len(sizes) - 1,))
        return [bitcast.BitcastConvert(sizes[:-1], to)(joined) if to != word else joined]
    words = x if of == word else bitcast.BitcastConvert(sizes[:-1], word)(x)
    spread = shape.BroadcastInDim(sizes, tuple(range(len(sizes) - 1)))(words)
    lowest = bitwise.and_(bitwise.shift_right_logical(spread, places), full(sizes, 1, word))
    return [conversion.convert(lowest, np.dtype(bool))]
