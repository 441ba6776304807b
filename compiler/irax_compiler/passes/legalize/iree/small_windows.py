"""Legalizations of small windows, as in pooling of images."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce as fold
from math import prod

from irax_compiler.determinism import is_in_marked
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import barrier, slicing
from irax_compiler.ops.computation import named
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.reductions.windows import Window
from irax_compiler.passes.core import enclosing
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.rewriting import read_as

MANY, LONGEST = 1 << 13, 8
"""The fewest windows, and the longest side of one, for which slices pay."""
VECTOR, MOST = 64, 16
"""The bytes of neighbouring windows that are a vector, and the most elements of a window that are
read for each result alone.
"""


@legalizes("stablehlo.reduce_window", kind="slow", of="IREE")
def small_windows(operation: Operation) -> Sequence[Value] | None:
    """Combine slices of the array, along one dimension after the other, so that windows share what
    they have in common: IREE goes through each window, and not by vectors where these lie along the
    last dimension.
    """
    op = _pools(operation)
    if op is None or op.window.full().sizes[-1] < 2:
        return None
    window, x = op.window.full(), _padded(op, operation)
    for d, size in enumerate(window.sizes):
        if size > 1 or window.strides[d] > 1:
            x = _combined(op, x, [d])
            x = barrier.barrier.build([x])[0]  # a fused kernel would combine them again
    return [x]


@legalizes("stablehlo.reduce_window", kind="slow", of="IREE")
def small_windows_of_vectors(operation: Operation) -> Sequence[Value] | None:
    """Combine slices of the array, all at once, where windows beside each other are vectors, as of
    channels: IREE asks of each element that it reads whether it is padded.
    """
    op = _pools(operation)
    if op is None:
        return None
    window, (result,) = op.window.full(), operation.results
    row = shape_of(result)[-1] * dtype_of(result).itemsize
    if window.sizes[-1] > 1 or window.strides[-1] > 1 or row < VECTOR:
        return None
    if prod(window.sizes) > MOST or max(window.base_dilations) > 1:
        return None
    return [_combined(op, _padded(op, operation), range(len(window.sizes)))]


def _pools(operation: Operation) -> ReduceWindow | None:
    """Return the op of windows of one array that slices may stand for; None of others."""
    op = read_as(ReduceWindow, operation)
    if op is None or not isinstance(op.computation, str) or len(operation.operands) != 2:
        return None
    x, init = operation.operands
    counts = shape_of(operation.results[0])
    if 0 in shape_of(x) or next(enclosing(operation)).name != "func.func":
        return None
    if prod(counts) < MANY and not is_in_marked(operation):  # whose number of rows must not matter
        return None
    if dtype_of(x).kind not in "fiu" or max(op.window.full().sizes) > LONGEST:
        return None
    return op if reduce.is_identity(op.computation, init) else None


def _padded(op: ReduceWindow, operation: Operation) -> Value:
    """Build the array with its padding."""
    (x, init), window = operation.operands, op.window.full()
    if window.padded(shape_of(x)) != shape_of(x) or window.adds_elements:
        return window.pad()(x, init)
    return x


def _combined(op: ReduceWindow, x: Value, along: Sequence[int]) -> Value:
    """Combine the elements of windows along some dimensions."""
    assert isinstance(op.computation, str)
    whole, combine = op.window.full(), named(op.computation, dtype_of(x))
    sizes, strides = (
        tuple(n if d in along else 1 for d, n in enumerate(each))
        for each in (whole.sizes, whole.strides)
    )
    window = Window(sizes, strides, dilations=whole.dilations).full()
    places = window.places(shape_of(x))
    return fold(
        lambda found, part: combine(found, part)[0],
        (slicing.slice_(x, first, last, strides) for first, last in places),
    )
