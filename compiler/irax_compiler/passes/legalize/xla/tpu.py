"""Legalizations of operations that XLA lacks on TPUs, where 64-bit numbers are pairs of 32-bit
ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops.computation import named
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.indexing.select_and_scatter import SelectAndScatter
from irax_compiler.ops.reductions import cumulative, reduce
from irax_compiler.ops.reductions.reduce_window import ReduceWindow
from irax_compiler.passes.legalization import legalizes
from irax_compiler.passes.legalize.numerics import fourier
from irax_compiler.passes.rewriting import Replacement, read_as


def _is_in_parts(dtype: np.dtype) -> bool:
    return dtype.itemsize >= 8 and dtype != np.complex64


@legalizes("stablehlo.reduce_window", kind="slow", of="XLA")
def cumulative_reduction_of_doubles(operation: Operation) -> Sequence[Value] | None:
    """Compute cumulative reductions of 64-bit numbers in steps: XLA takes minutes to compile a
    cumulative sum of 150.
    """
    op = read_as(ReduceWindow, operation)
    extents, dtype = shape_of(operation.operands[0]), dtype_of(operation.operands[0])
    run = None if op is None else cumulative.run_of(op.window, extents)
    if op is None or run is None or not isinstance(op.computation, str) or not _is_in_parts(dtype):
        return None
    x, init = operation.operands
    compute = named(op.computation, dtype)
    (found,) = cumulative.accumulated(compute, [x], run)
    if not reduce.is_identity(op.computation, init):
        size = op.window.sizes[run.dimension]
        (start,) = cumulative.of_padding(compute, [init], run, size, extents)
        (found,) = compute(start, found)
    return [found]


@legalizes("stablehlo.fft", kind="missing", of="XLA")
def double_fourier_transform(operation: Operation) -> Replacement:
    """Compute Fourier transforms of 64-bit numbers as products of matrices: XLA has none on
    TPUs.
    """
    if dtype_of(operation.operands[0]) in (np.float32, np.complex64):
        return None
    return fourier.fourier_transform.build(operation)


@legalizes("stablehlo.reduce_precision", kind="bug", of="XLA")
def rounding_of_doubles(operation: Operation) -> Sequence[Value] | None:
    """Refuse to round float64: XLA rounds neither of its two parts."""
    if dtype_of(operation.results[0]) != np.float64:
        return None
    raise UnsupportedOp(
        f"{operation.name} of float64 at {operation.location}: a TPU has such numbers in two parts "
        "alone, which XLA does not round; convert to float32 first"
    )


@legalizes("stablehlo.select_and_scatter", kind="missing", of="XLA")
def select_and_scatter_by_definition(operation: Operation) -> Sequence[Value] | None:
    """Expand select_and_scatter of 64-bit numbers, or with fewer than two dimensions without
    windows, which XLA lacks on TPUs.
    """
    op = read_as(SelectAndScatter, operation)
    if op is None:
        return None
    window = op.window.full()
    bare = sum(n == s == 1 for n, s in zip(window.sizes, window.strides, strict=True))
    if bare >= 2 and not _is_in_parts(dtype_of(operation.results[0])):
        return None
    return op.define(list(operation.operands))
