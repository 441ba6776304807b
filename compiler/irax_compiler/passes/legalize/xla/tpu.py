"""Legalizations of operations that XLA lacks on TPUs, where 64-bit numbers are pairs of 32-bit
ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import conversion, elementwise, shape
from irax_compiler.ops.computation import named
from irax_compiler.ops.convolution import Convolution
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.dot import DotGeneral
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.reduction_builders import reduce_sum
from irax_compiler.ops.reductions import cumulative, reduce
from irax_compiler.ops.select_and_scatter import SelectAndScatter
from irax_compiler.passes.legalize.iree import convolution_forms
from irax_compiler.passes.legalize.legalization import legalizes
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


@legalizes("stablehlo.convolution", kind="missing", of="XLA")
def convolution_of_long_integers(operation: Operation) -> Sequence[Value] | None:
    """Convolve 64-bit integers by products of matrices: XLA has no such convolutions on TPUs."""
    op = read_as(Convolution, operation)
    if op is None or not _is_long_integer(op.dtype):
        return None
    return [convolution_forms.as_products(op, operation)]


@legalizes("stablehlo.dot_general", "stablehlo.dot", kind="missing", of="XLA")
def contraction_of_long_integers(operation: Operation) -> Sequence[Value] | None:
    """Multiply 64-bit integers elementwise and add them up: XLA multiplies no matrices of them on
    TPUs. It fuses the two, so that the products take no memory.
    """
    op = read_as(DotGeneral, operation)
    if op is None or not _is_long_integer(op.dtype):
        return None
    x, y = (conversion.convert(operand, op.dtype) for operand in operation.operands)
    dims, left, right = op.dimensions, shape_of(x), shape_of(y)
    lhs_free, rhs_free = dims.lhs_free(len(left)), dims.rhs_free(len(right))
    kept = len(dims.lhs_batching) + len(lhs_free) + len(rhs_free)
    lhs_places = dims.lhs_batching + lhs_free + dims.lhs_contracting
    rhs_places = dims.rhs_batching + dims.rhs_contracting + rhs_free
    batched, contracted = len(dims.lhs_batching), len(dims.lhs_contracting)
    inner = tuple(range(kept, kept + contracted))
    beside = tuple(range(batched + len(lhs_free), kept))
    sizes = *shape_of(operation.results[0]), *(left[d] for d in dims.lhs_contracting)

    def spread(operand: Value, places: Sequence[int], onto: Sequence[int]) -> Value:
        where = dict(zip(places, onto, strict=True))
        return shape.BroadcastInDim(sizes, tuple(where[d] for d in sorted(where)))(operand)

    factors = (
        spread(x, lhs_places, (*range(batched + len(lhs_free)), *inner)),
        spread(y, rhs_places, (*range(batched), *inner, *beside)),
    )
    return [reduce_sum(elementwise.multiply(*factors), inner)]


def _is_long_integer(dtype: np.dtype) -> bool:
    return dtype.kind in "iu" and dtype.itemsize == 8
