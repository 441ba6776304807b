"""Legalizations of cumulative reductions: sums, products and extrema over windows of all elements
so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt, prod

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import barrier, conversion, shape, slicing
from irax_compiler.ops.computation import named
from irax_compiler.ops.core import full, working_dtype
from irax_compiler.ops.reductions import cumulative, reduce
from irax_compiler.ops.reductions.cumulative import Run
from irax_compiler.ops.reductions.reduce_window import ReduceWindow
from irax_compiler.passes.legalization import legalizes
from irax_compiler.passes.rewriting import read_as

LONG = 1024
"""The least length of rows for which parts are reduced side by side."""
SIDE_BY_SIDE = 64
"""The number of rows that keep all processors busy."""


@legalizes("stablehlo.reduce_window", kind="slow", of="IREE")
def cumulative_window(operation: Operation) -> Sequence[Value] | None:
    """Compute cumulative reductions in the form that IREE runs in one pass: of a single array,
    forwards, by one operation, from its identity. Other forms take a pass per element, and those of
    booleans do not compile.
    """
    op = read_as(ReduceWindow, operation)
    operands = list(operation.operands)
    extents = shape_of(operands[0])
    run = None if op is None else cumulative.run_of(op.window, extents)
    if op is None or run is None:
        return None
    if not isinstance(op.computation, str):
        return op.define(operands)
    x, init = operands
    dtype = dtype_of(x)
    wide = np.dtype(np.uint8) if dtype == np.bool_ else working_dtype(dtype)
    x, init = conversion.convert(x, wide), conversion.convert(init, wide)
    if run.backwards:
        turn = slicing.Reverse((run.dimension,))
        # Where it is fused, of a constant, IREE wants more stack than there is.
        (turned,) = barrier.barrier.build([turn(x)])
        found = turn(_forwards(op.computation, turned, run.dimension))
    else:
        found = _forwards(op.computation, x, run.dimension)
    if not reduce.is_identity(op.computation, init):
        compute = named(op.computation, wide)
        size = op.window.sizes[run.dimension]
        (start,) = cumulative.of_padding(compute, [init], run, size, extents)
        (found,) = compute(start, found)
    return [conversion.convert(found, dtype)]


def _forwards(combiner: str, x: Value, d: int) -> Value:
    """Return the cumulative reduction along dimension `d`, from the identity."""
    extents = shape_of(x)
    n = extents[d]
    neutral = full((), reduce.identity(combiner, dtype_of(x)), dtype_of(x))
    if n < LONG or prod(extents) // n >= SIDE_BY_SIDE:
        return ReduceWindow(combiner, Run(d).window(extents)).build([x, neutral])[0]
    # In blocks, then each from where the block before it ended.
    size = _size_of_block(n)
    count = -(-n // size)
    zeros = [0] * len(extents)
    missing = count * size - n
    if missing:
        after = (*zeros[:d], missing, *zeros[d + 1 :])
        x = slicing.Pad(tuple(zeros), after, tuple(zeros))(x, neutral)
    blocks = (*extents[:d], count, size, *extents[d + 1 :])
    inner = _forwards(combiner, shape.reshape(x, blocks), d + 1)
    totals = slicing.slice_in_dim(inner, size - 1, size, d + 1)
    totals = shape.reshape(totals, (*extents[:d], count, *extents[d + 1 :]))
    ends = _forwards(combiner, totals, d)
    shifted = [*zeros[:d], 1, *zeros[d + 1 :]]
    starts = slicing.Pad(tuple(shifted), tuple(-n for n in shifted), tuple(zeros))(ends, neutral)
    axes = tuple(i for i in range(len(blocks)) if i != d + 1)
    (whole,) = named(combiner, dtype_of(x))(shape.BroadcastInDim(blocks, axes)(starts), inner)
    flat = shape.reshape(whole, (*extents[:d], count * size, *extents[d + 1 :]))
    return slicing.slice_in_dim(flat, 0, n, d) if missing else flat


def _size_of_block(n: int) -> int:
    """Return a divisor of a length not far above its root, if there is one: then nothing is padded
    in a copy. Otherwise, return the root.
    """
    root = isqrt(n - 1) + 1
    return next((size for size in range(root, 3 * root) if n % size == 0), root)
