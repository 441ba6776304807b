"""Legalizations of cumulative reductions: sums, products and extrema over windows of all elements
so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isqrt, prod
from typing import TYPE_CHECKING

import numpy as np

from irax_compiler.determinism import is_in_marked
from irax_compiler.importing import deferred
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import barrier, bitcast, bitwise, conversion, shape, slicing
from irax_compiler.ops.computation import named
from irax_compiler.ops.core import full, working_dtype
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.reductions import cumulative, reduce
from irax_compiler.ops.reductions.cumulative import Run
from irax_compiler.passes.core import enclosing
from irax_compiler.passes.kernels.partial_sums import in_blocks
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.matching import halves
from irax_compiler.passes.rewriting import read_as

if TYPE_CHECKING:
    from irax_compiler.passes.kernels.cumulative import kernels
else:
    (kernels,) = deferred("irax_compiler.passes.kernels.cumulative", "kernels")

MANY = 2048
"""The elements from which a kernel pays."""
LONG = 1024
"""The least length of rows for which parts are reduced side by side."""
SIDE_BY_SIDE = 64
"""The number of rows that keep all processors busy."""


@legalizes("stablehlo.reduce_window", kind="slow", of="IREE")
def cumulative_by_vectors(operation: Operation) -> Sequence[Value] | None:
    """Compute large cumulative reductions by vectors, and long ones by all processors. IREE goes
    from element to element. Those in loops stay, for the kernels of loops.
    """
    op, x = read_as(ReduceWindow, operation), operation.operands[0]
    extents = shape_of(x)
    run = None if op is None else cumulative.run_of(op.window, extents)
    if op is None or run is None or not isinstance(op.computation, str):
        return None
    if prod(extents) < MANY and not is_in_marked(operation):
        return None
    if next(enclosing(operation)).name != "func.func" or not kernels.is_known(dtype_of(x)):
        return None
    if not reduce.is_identity(op.computation, operation.operands[1]):
        return None
    return [kernels.accumulated(operation, run, op.computation)]


@legalizes("stablehlo.reduce_window", kind="slow", of="IREE")
def cumulative_window(operation: Operation) -> Sequence[Value] | None:
    """Compute cumulative reductions in the form that IREE runs in one pass: of a single array of
    signed numbers, forwards, by one operation, from its identity. Other forms take a pass per
    element, and those of booleans and unsigned numbers do not compile.
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
    from_identity = reduce.is_identity(op.computation, init)
    dtype = dtype_of(x)
    is_sum_of_booleans = dtype == np.bool_ and op.computation == "add"
    combiner = "or" if is_sum_of_booleans else op.computation
    x = _signed(combiner, x)
    if run.backwards:
        turn = slicing.Reverse((run.dimension,))
        # Where it is fused, of a constant, IREE wants more stack than there is.
        (turned,) = barrier.barrier.build([turn(x)])
        found = turn(_forwards(combiner, turned, run.dimension))
    else:
        found = _forwards(combiner, x, run.dimension)
    if not from_identity:
        compute = named(combiner, dtype_of(x))
        size = op.window.sizes[run.dimension]
        inits = [_signed(combiner, init)]
        (start,) = cumulative.of_padding(compute, inits, run, size, extents)
        (found,) = compute(start, found)
    return [_of_dtype(dtype, combiner, found)]


@legalizes("stablehlo.reduce_window", kind="bug", of="IREE")
def windows_like_cumulative(operation: Operation) -> Sequence[Value] | None:
    """Pad arrays before windows of all elements of a dimension, of other numbers than there are
    elements: IREE takes these for cumulative reductions, and does not compile them.
    """
    op = read_as(ReduceWindow, operation)
    if op is None:
        return None
    xs, inits = halves(operation)
    window, extents = op.window.full(), shape_of(xs[0])
    ends = zip(window.sizes, extents, window.padding, strict=True)
    is_like = any(size == n > 1 and n - 1 in pair for size, n, pair in ends)
    if not is_like or cumulative.run_of(window, extents) is not None:
        return None
    padded = [window.pad()(x, init) for x, init in zip(xs, inits, strict=True)]
    bare = replace(window, base_dilations=(), padding=()).full()
    return replace(op, window=bare).build([*padded, *inits])


def _signed(combiner: str, x: Value) -> Value:
    """Return numbers as signed ones, or as floats, that the combiner treats alike."""
    dtype = dtype_of(x)
    if dtype.kind == "u":
        signed = np.dtype(f"i{dtype.itemsize}")
        return bitcast.BitcastConvert(shape_of(x), signed)(_with_order(combiner, x))
    wide = np.dtype(np.int8) if dtype == np.bool_ else working_dtype(dtype)
    return conversion.convert(x, wide)


def _of_dtype(dtype: np.dtype, combiner: str, x: Value) -> Value:
    """Return the numbers of `dtype` that signed ones, or floats, stand for."""
    if dtype.kind == "u":
        return _with_order(combiner, bitcast.BitcastConvert(shape_of(x), dtype)(x))
    return conversion.convert(x, dtype)


def _with_order(combiner: str, x: Value) -> Value:
    """Return unsigned integers with their highest bits inverted, if the combiner compares: so their
    order is that of the signed integers of the same bits.
    """
    dtype = dtype_of(x)
    if combiner not in ("maximum", "minimum"):
        return x
    return bitwise.xor(x, full(shape_of(x), 1 << (8 * dtype.itemsize - 1), dtype))


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
    inner = _forwards(combiner, in_blocks(x, d, size, neutral), d + 1)
    blocks = shape_of(inner)
    totals = slicing.slice_in_dim(inner, size - 1, size, d + 1)
    totals = shape.reshape(totals, (*extents[:d], count, *extents[d + 1 :]))
    ends = _forwards(combiner, totals, d)
    shifted = [*zeros[:d], 1, *zeros[d + 1 :]]
    starts = slicing.Pad(tuple(shifted), tuple(-n for n in shifted), tuple(zeros))(ends, neutral)
    axes = tuple(i for i in range(len(blocks)) if i != d + 1)
    (whole,) = named(combiner, dtype_of(x))(shape.BroadcastInDim(blocks, axes)(starts), inner)
    flat = shape.reshape(whole, (*extents[:d], count * size, *extents[d + 1 :]))
    return slicing.slice_in_dim(flat, 0, n, d) if count * size > n else flat


def _size_of_block(n: int) -> int:
    """Return a divisor of a length not far above its root, if there is one: then nothing is padded
    in a copy. Otherwise, return the root.
    """
    root = isqrt(n - 1) + 1
    return next((size for size in range(root, 3 * root) if n % size == 0), root)
