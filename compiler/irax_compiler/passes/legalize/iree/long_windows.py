"""The legalization of sums over long windows."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod

from irax_compiler.mlir import Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import elementwise, shape, slicing
from irax_compiler.ops.core import full
from irax_compiler.ops.reduce_window import ReduceWindow, Window
from irax_compiler.ops.reductions import cumulative, reduce
from irax_compiler.passes.kernels.partial_sums import BLOCK, LONG, divisor_near
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.rewriting import read_as
from irax_compiler.sizes import is_symbolic


@legalizes("stablehlo.reduce_window", kind="bug", of="IREE")
def sum_of_long_windows(operation: Operation) -> Sequence[Value] | None:
    """Add up windows of many elements along one dimension after the other, and in blocks: IREE adds
    the elements of a window one by one, which loses digits.
    """
    op = read_as(ReduceWindow, operation)
    if op is None or op.computation != "add" or not inexact(dtype_of(operation.results[0])):
        return None
    x, init = operation.operands
    window, extents = op.window, shape_of(x)
    if any(map(is_symbolic, (*extents, *window.sizes))) or prod(window.sizes) <= LONG:
        return None
    if not reduce.is_identity("add", init) or cumulative.run_of(window, extents) is not None:
        return None
    if window.padded(extents) != extents:
        x = window.pad()(x, init)
    if 0 in shape_of(operation.results[0]):
        return None
    for d, size in enumerate(window.sizes):
        if size > 1 or window.strides[d] > 1:
            x = _along(x, d, size, window.strides[d], window.dilations[d])
    return [x]


def _along(x: Value, d: int, size: int, stride: int, step: int) -> Value:
    """The sums of windows along one dimension, whose elements are `step` apart."""
    extents = shape_of(x)
    count = (extents[d] - (size - 1) * step - 1) // stride + 1
    if stride == size and step == 1:
        rows = slicing.slice_in_dim(x, 0, count * size, d)
        apart = shape.reshape(rows, (*extents[:d], count, size, *extents[d + 1 :]))
        return reduce.Reduce("add", (d + 1,))(apart, full((), 0, dtype_of(x)))
    if size <= LONG:
        return _windows(x, d, size, stride, step)
    # The sums of blocks, and of windows of blocks; then those of what is left.
    block = divisor_near(size, BLOCK)
    blocks, rest = divmod(size, block)
    common = gcd(stride, block * step)
    inner = _windows(x, d, block, common, step)
    total = _along(inner, d, blocks, stride // common, block * step // common)
    total = slicing.slice_in_dim(total, 0, count, d)
    if not rest:
        return total
    others = slicing.slice_in_dim(x, blocks * block * step, extents[d], d)
    return elementwise.add(total, _windows(others, d, rest, stride, step))


def _windows(x: Value, d: int, size: int, stride: int, step: int) -> Value:
    ones = (1,) * len(shape_of(x))

    def along(n: int) -> tuple[int, ...]:
        return (*ones[:d], n, *ones[d + 1 :])

    window = Window(along(size), along(stride), dilations=along(step)).full()
    return ReduceWindow("add", window).build([x, full((), 0, dtype_of(x))])[0]
