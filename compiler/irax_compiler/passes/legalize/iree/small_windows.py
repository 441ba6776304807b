"""The legalization of small windows along neighbouring elements: pooling of images whose rows are
contiguous.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from irax_compiler.determinism import is_in_marked
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import barrier, slicing
from irax_compiler.ops.computation import named
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.reductions import reduce
from irax_compiler.passes.core import enclosing
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.rewriting import read_as

MANY, LONGEST = 1 << 13, 8
"""The fewest windows, and the longest side of one, for which slices pay."""


@legalizes("stablehlo.reduce_window", kind="slow", of="IREE")
def small_windows(operation: Operation) -> Sequence[Value] | None:
    """Combine slices of the array, along one dimension after the other, so that windows share what
    they have in common: IREE goes through each window, and not by vectors where these lie along the
    last dimension.
    """
    op = read_as(ReduceWindow, operation)
    if op is None or not isinstance(op.computation, str) or len(operation.operands) != 2:
        return None
    x, init = operation.operands
    window, extents = op.window.full(), shape_of(x)
    counts = shape_of(operation.results[0])
    if 0 in extents or next(enclosing(operation)).name != "func.func":
        return None
    if prod(counts) < MANY and not is_in_marked(operation):  # whose number of rows must not matter
        return None
    if dtype_of(x).kind not in "fiu" or window.sizes[-1] < 2 or max(window.sizes) > LONGEST:
        return None
    if not reduce.is_identity(op.computation, init):
        return None
    if window.padded(extents) != extents or window.adds_elements:
        x = window.pad()(x, init)
    for d, size in enumerate(window.sizes):
        if size > 1 or window.strides[d] > 1:
            x = _along(op.computation, x, d, size, window.strides[d], window.dilations[d])
    return [x]


def _along(combiner: str, x: Value, d: int, size: int, stride: int, step: int) -> Value:
    """Combine the elements of windows along a dimension, which are `step` apart."""
    extents = shape_of(x)
    count = (extents[d] - (size - 1) * step - 1) // stride + 1
    starts, strides = [0] * len(extents), [1] * len(extents)
    strides[d] = stride
    found: Value | None = None
    for i in range(size):
        starts[d] = i * step
        limits = [*extents[:d], i * step + (count - 1) * stride + 1, *extents[d + 1 :]]
        part = slicing.slice_(x, starts, limits, strides)
        (found,) = [part] if found is None else named(combiner, dtype_of(x))(found, part)
    assert found is not None
    return barrier.barrier.build([found])[0]  # a fused kernel would combine them again
