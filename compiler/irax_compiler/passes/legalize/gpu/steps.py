"""Legalizations of operations that take a GPU thread too many steps.

IREE computes each element of a result by one thread, with all steps of a reduction or sort in it.
That is slow for few elements of many steps. Mesa's Vulkan driver for CPUs silently ends the loops
of a thread after 65535 steps in all. So long work is divided into parts; operations that cannot be
divided are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import isqrt, prod

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import (
    comparison,
    convolution,
    dot,
    elementwise,
    reduce_window,
    shape,
    slicing,
)
from irax_compiler.ops.computation import named
from irax_compiler.ops.core import Op, UnsupportedOp, full, full_like
from irax_compiler.ops.indexing import dynamic_slices, gather_scatter
from irax_compiler.ops.loop_builders import while_loop
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.reductions.variadic_reduce import VariadicReduce
from irax_compiler.ops.sorting import sort
from irax_compiler.passes.kernels.partial_sums import in_blocks, products_of_blocks
from irax_compiler.passes.legalize.iree.indexing import scatter_of_one
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.rewriting import read_as

MOST_STEPS = 1 << 13
"""The most steps of one operation. Several operations may share a kernel, and nested loops count
too."""

INT32 = np.dtype(np.int32)


# ---- sums, products, extrema ---------------------------------------------------------------------


@legalizes("stablehlo.reduce", kind="bug", of=("IREE", "Mesa"))
def reduction_in_parts(operation: Operation) -> Sequence[Value] | None:
    """Reduce parts side by side, then combine their results."""
    op = read_as(Op, operation)
    operands = list(operation.operands)
    sizes = shape_of(operands[0])
    if not isinstance(op, reduce.Reduce | VariadicReduce) or 0 in sizes:
        return None
    if prod(sizes[d] for d in op.dimensions) <= MOST_STEPS:
        return None
    if isinstance(op, VariadicReduce):
        return op.define(operands)
    x, init = operands
    folded = _folded(op.combiner, x, op.dimensions)
    if reduce.is_identity(op.combiner, init):
        return [folded]
    return named(op.combiner, dtype_of(x))(shape.broadcast_scalar(init, shape_of(folded)), folded)


def _folded(combiner: str, x: Value, dimensions: Sequence[int]) -> Value:
    """Reduce some dimensions, from the identity, a few thousand elements at a time."""
    sizes = shape_of(x)
    total = prod(sizes[d] for d in dimensions)
    neutral = full((), reduce.identity(combiner, dtype_of(x)), dtype_of(x))
    if total <= MOST_STEPS:
        return reduce.Reduce(combiner, tuple(dimensions))(x, neutral)
    longest = max(dimensions, key=lambda d: sizes[d])
    others = [d for d in dimensions if d != longest]
    rest = prod(sizes[d] for d in others)
    if rest > isqrt(total):
        inner = _folded(combiner, x, others)
        return _folded(combiner, inner, [longest - sum(d < longest for d in others)])
    blocks = in_blocks(x, longest, isqrt(total) // rest, neutral)
    inside = [d + (d > longest) for d in others]
    inner = _folded(combiner, blocks, [*inside, longest + 1])
    return _folded(combiner, inner, [longest - sum(d < longest for d in others)])


@legalizes(
    "stablehlo.dot_general", kind="bug", of=("IREE", "Mesa"), reproduction="reduction_in_parts"
)
def contraction_in_parts(operation: Operation) -> Sequence[Value] | None:
    """Make parts of the longest contracting dimension a batch, and sum over it."""
    op = read_as(dot.DotGeneral, operation)
    if op is None:
        return None
    x, y = operation.operands
    dims = op.dimensions
    total = prod(shape_of(x)[d] for d in dims.lhs_contracting)
    if total <= MOST_STEPS or op.dtype == np.bool_:
        return None
    parts = products_of_blocks(op, x, y, MOST_STEPS)
    return [_folded("add", parts, [0])]


@legalizes(
    "stablehlo.convolution", kind="bug", of=("IREE", "Mesa"), reproduction="reduction_in_parts"
)
def convolution_in_parts(operation: Operation) -> Sequence[Value] | None:
    """Divide the input features, and sum the contributions of the parts."""
    op = read_as(convolution.Convolution, operation)
    if op is None or _steps_of_convolution(op, operation) <= MOST_STEPS:
        return None
    x, y = operation.operands
    d, e = op.dimensions.lhs[1], op.dimensions.rhs[1]
    features = shape_of(x)[d]
    size = MOST_STEPS * features // _steps_of_convolution(op, operation)
    if op.feature_group_count * op.batch_group_count > 1 or size == 0:
        return None
    ends = [*range(0, features, size), features]
    parts = [
        op(slicing.slice_in_dim(x, start, end, d), slicing.slice_in_dim(y, start, end, e))
        for start, end in pairwise(ends)
    ]
    total = parts[0]
    for part in parts[1:]:
        total = elementwise.add(total, part)
    return [total]


@legalizes(
    "stablehlo.reduce_window", kind="bug", of=("IREE", "Mesa"), reproduction="reduction_in_parts"
)
def window_in_parts(operation: Operation) -> Sequence[Value] | None:
    """Reduce windows along one dimension after the other."""
    op = read_as(reduce_window.ReduceWindow, operation)
    if op is None or not isinstance(op.computation, str):
        return None
    window = op.window.full()
    x, init = operation.operands
    if prod(window.sizes) <= MOST_STEPS or sum(n > 1 for n in window.sizes) < 2:
        return None
    if not reduce.is_identity(op.computation, init):
        return None
    ones = reduce_window.Window((1,) * len(window.sizes)).full()
    for d in range(len(window.sizes)):
        along = reduce_window.Window(
            *(
                (*of_one[:d], of_all[d], *of_one[d + 1 :])
                for of_one, of_all in zip(_fields(ones), _fields(window), strict=True)
            )
        )
        if along != ones:
            (x,) = replace(op, window=along).build([x, init])
    return [x]


def _fields(window: reduce_window.Window) -> list[tuple]:
    return [
        window.sizes,
        window.strides,
        window.base_dilations,
        window.dilations,
        window.padding,
    ]


# ---- writing -------------------------------------------------------------------------------------


@legalizes("stablehlo.scatter", kind="bug", of=("IREE", "Mesa"), reproduction="reduction_in_parts")
def scatter_in_parts(operation: Operation) -> Sequence[Value] | None:
    """Scatter a part of the updates at a time, in a loop: since any update may go anywhere, each
    thread visits all of them.
    """
    op = scatter_of_one(operation)
    if op is None:
        return None
    array, places, updates = operation.operands
    count = shape_of(updates)[0] if shape_of(updates) else 1
    is_rows = op.dims.window_dims == tuple(range(1, len(shape_of(updates))))
    if count <= MOST_STEPS or not is_rows or op.dims.index_vector_dim != 1:
        return None
    whole = count // MOST_STEPS * MOST_STEPS

    def some(x: Value, start: Value) -> Value:
        zero = full((), 0, INT32)
        sizes = (MOST_STEPS, *shape_of(x)[1:])
        return dynamic_slices.DynamicSlice(sizes)(x, start, *[zero] * (len(sizes) - 1))

    def step(start: Value, so_far: Value) -> Sequence[Value]:
        (written,) = op.build([so_far, some(places, start), some(updates, start)])
        return [elementwise.add(start, full_like(start, MOST_STEPS)), written]

    limit = full((), whole, INT32)
    start = [full((), 0, INT32), array]
    _, result = while_loop(lambda i, _: comparison.less(i, limit), step, start)
    if whole < count:
        rest = [slicing.slice_in_dim(x, whole, count, 0) for x in (places, updates)]
        (result,) = op.build([result, *rest])
    return [result]


# ---- what is left --------------------------------------------------------------------------------


@legalizes(
    "stablehlo.convolution",
    "stablehlo.dot_general",
    "stablehlo.reduce",
    "stablehlo.reduce_window",
    "stablehlo.scatter",
    "stablehlo.sort",
    kind="bug",
    of=("IREE", "Mesa"),
    reproduction="reduction_in_parts",
)
def too_many_steps(operation: Operation) -> Sequence[Value] | None:
    """Refuse operations that could not be divided."""
    steps = _steps(operation)
    if steps > MOST_STEPS:
        raise UnsupportedOp(
            f"{operation.name} at {operation.location} takes {steps} steps for each element of "
            f"its result, of which a GPU's thread is given {MOST_STEPS}, and there is no way to "
            "divide it; run this function on the device 'cpu'"
        )
    return None


def _steps(operation: Operation) -> int:
    """Return an estimate of the steps of one thread."""
    op = read_as(Op, operation)
    extents = shape_of(operation.operands[0])
    if isinstance(op, reduce.Reduce | VariadicReduce):
        return prod(extents[d] for d in op.dimensions)
    if isinstance(op, dot.DotGeneral):
        return prod(extents[d] for d in op.dimensions.lhs_contracting)
    if isinstance(op, convolution.Convolution):
        return _steps_of_convolution(op, operation)
    if isinstance(op, reduce_window.ReduceWindow):
        return prod(op.window.sizes)
    if isinstance(op, sort.Sort | sort.SortBy):
        return extents[op.dimension] ** 2
    if isinstance(op, gather_scatter.Scatter | gather_scatter.ScatterBy):
        updates = shape_of(operation.operands[-1])
        return updates[0] if updates else 1
    return 0


def _steps_of_convolution(op: convolution.Convolution, operation: Operation) -> int:
    kernel = shape_of(operation.operands[1])
    return prod(kernel) // max(kernel[op.dimensions.rhs[0]], 1)
