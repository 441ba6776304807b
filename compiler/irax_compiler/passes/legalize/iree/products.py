"""Legalizations of products and reductions: dot_general, reduce and reduce_window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from irax_compiler import blas, mlir
from irax_compiler.determinism import is_in_marked
from irax_compiler.importing import deferred
from irax_compiler.mlir import Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import barrier, bitwise, comparison, dot, elementwise, shape
from irax_compiler.ops.conversion import Convert, convert
from irax_compiler.ops.core import Op, full, full_like, working_dtype
from irax_compiler.ops.indexing.gather_scatter import Scatter
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.reductions.variadic_reduce import VariadicReduce
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.passes.kernels.partial_sums import DEEP
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.matching import made_by
from irax_compiler.passes.rewriting import read_as

if TYPE_CHECKING:
    from irax_compiler.passes.kernels.blas import words
else:
    (words,) = deferred("irax_compiler.passes.kernels.blas", "words")

FLOAT32 = np.dtype(np.float32)
_EXACT = (FLOAT32, np.dtype(np.float64))


def _is_narrow(dtype: np.dtype) -> bool:
    return inexact(dtype) and dtype.itemsize < 4


@legalizes(
    "stablehlo.dot_general",
    "stablehlo.dot",
    kind="bug",
    of="IREE",
    fatal="the compiler of IREE 3.13.0 divides by zero",
)
def empty_contraction(operation: Operation) -> Sequence[Value] | None:
    """Return zeros for a product of arrays without elements: IREE's compiler divides by zero."""
    if not any(0 in shape_of(x) for x in operation.operands):
        return None
    return [full_like(operation.results[0], 0)]


@legalizes("stablehlo.dot_general", kind="missing", of=("IREE", "XLA"))
def contraction_by_algorithm(operation: Operation) -> Sequence[Value] | None:
    """Drop the precision algorithm of a product: IREE has no choice and refuses it in batches, and
    its own is at least as precise as any that is faster.
    """
    op = read_as(dot.DotGeneral, operation)
    if op is None or op.algorithm is None:
        return None
    return replace(op, algorithm=None).build(operation.operands)


@legalizes("stablehlo.dot_general", "stablehlo.dot", kind="bug", of="IREE")
def narrow_contraction(operation: Operation) -> Sequence[Value] | None:
    """Sum in float32: IREE sums in the dtype of the result, so that errors in float16 and bfloat16
    grow to percents.
    """
    dtype = dtype_of(operation.results[0])
    op = read_as(dot.DotGeneral, operation)
    if op is None or not _is_narrow(dtype):
        return None
    wide = replace(op, dtype=FLOAT32)(*operation.operands)
    return [convert(wide, dtype)]


@legalizes("stablehlo.dot_general", "stablehlo.dot", kind="bug", of="IREE")
def contraction_of_booleans(operation: Operation) -> Sequence[Value] | None:
    """Multiply booleans as integers, and compare the sum with zero: IREE adds booleans modulo 2,
    and refuses sums over several dimensions.
    """
    op = read_as(dot.DotGeneral, operation)
    if op is None or op.dtype != np.bool_:
        return None
    int32 = np.dtype(np.int32)
    count = replace(op, dtype=int32)(*(_counted(x, int32) for x in operation.operands))
    return [convert(count, op.dtype)]


def _counted(x: Value, dtype: np.dtype) -> Value:
    """Build ones and zeros of booleans. IREE would take a conversion back into the sum."""
    one, zero = (full(shape_of(x), number, dtype) for number in (1, 0))
    return comparison.select(x, one, zero)


@legalizes(
    "stablehlo.dot_general",
    "stablehlo.dot",
    "stablehlo.convolution",
    kind="bug",
    of="IREE",
)
def contraction_of_unsigned(operation: Operation) -> Sequence[Value] | None:
    """Widen unsigned factors and booleans in ways that IREE does not take into the product: there
    it widens all integers as signed ones.
    """
    op, given = read_as(Op, operation), list(operation.operands)
    dtype = dtype_of(operation.results[0])
    operands = [_widened(x, dtype) for x in given]
    if op is None or operands == given:
        return None
    is_mixed = dtype_of(operands[0]) != dtype_of(operands[1])
    return op.build([convert(x, dtype) for x in operands] if is_mixed else operands)


def _widened(x: Value, dtype: np.dtype) -> Value:
    """Build a factor of a product in `dtype` such that IREE's code has its value."""
    is_unsigned = dtype_of(x).kind == "u" and dtype_of(x).itemsize < dtype.itemsize
    if is_unsigned or dtype_of(x) == np.bool_ != dtype:
        return _zero_extended(x, dtype)
    source = mlir.definition(x)
    if source is None or len(source.operands) != 1 or not _keeps_numbers(source):
        return x
    (inner,) = source.operands
    same = _widened(inner, dtype_of(x))
    if same == inner:
        return x
    return convert(same, dtype_of(x)) if source.name == Convert.name else read(source)(same)


def _keeps_numbers(operation: Operation) -> bool:
    """True for what IREE changes the order of: conversions, and moves of elements."""
    return operation.name == Convert.name or traits_of(operation).moves


def _zero_extended(x: Value, dtype: np.dtype) -> Value:
    """Convert booleans by choice, and unsigned integers by signed ones that hold them."""
    if dtype_of(x) == np.bool_:
        return _counted(x, dtype)
    signed = np.dtype(np.int32 if dtype_of(x).itemsize < 4 else np.int64)
    bits = (1 << 8 * dtype_of(x).itemsize) - 1
    extended = convert(x, signed)
    return convert(bitwise.and_(extended, full(shape_of(x), bits, signed)), dtype)


@legalizes(
    "stablehlo.dot_general",
    "stablehlo.dot",
    kind="slow",
    of="IREE",
    reproduction="contraction_of_small_integers",
)
def contraction_of_bytes(operation: Operation) -> Sequence[Value] | None:
    """Multiply integers of 8 bits by the processor's instructions for them, if it has any: IREE
    widens them before.
    """
    op = read_as(dot.DotGeneral, operation)
    if op is None or op.dtype.kind not in "iu" or op.dtype.itemsize > 4:
        return None
    x, y = (_narrow(x, op.dtype) for x in operation.operands)
    found = words.product(op.dimensions, x, y, shape_of(operation.results[0]))
    return None if found is None else [convert(found, op.dtype)]


def _narrow(x: Value, dtype: np.dtype) -> Value:
    """Return the bytes that x has the numbers of, modulo those of `dtype`, if there are any."""
    found, wide = made_by(x, Convert), dtype_of(x)
    if found is None or wide.kind not in "iu" or wide.itemsize == 1:
        return x
    narrow = dtype_of(found.operand)
    keeps = wide.kind == "i" or narrow.kind == "u" or wide.itemsize >= dtype.itemsize
    return found.operand if keeps and narrow in words.DTYPES else x


@legalizes("stablehlo.dot_general", "stablehlo.dot", kind="slow", of="IREE")
def contraction_of_bfloat16(operation: Operation) -> Sequence[Value] | None:
    """Multiply numbers of bfloat16 by the processor's instructions for them, if it has any, and sum
    in float32: IREE converts them before.
    """
    op = read_as(dot.DotGeneral, operation)
    if op is None or not inexact(op.dtype) or op.dtype.itemsize > 4:
        return None
    if is_in_marked(operation):  # how many rows there are must not matter
        return None
    x, y = operation.operands
    if {dtype_of(x), dtype_of(y)} != {words.BFLOAT16}:
        return None
    found = words.product(op.dimensions, x, y, shape_of(operation.results[0]))
    return None if found is None else [convert(found, op.dtype)]


MANY = 1 << 18
"""The multiplications from which it pays to convert small integers to floats."""


@legalizes("stablehlo.dot_general", "stablehlo.dot", kind="slow", of="IREE")
def contraction_of_small_integers(operation: Operation) -> Sequence[Value] | None:
    """Multiply integers of 8 and 16 bits as floats that hold every sum exactly: IREE multiplies
    integers slower, and OpenBLAS not at all.
    """
    op = read_as(dot.DotGeneral, operation)
    dtypes = [dtype_of(x) for x in operation.operands]
    if op is None or any(d.kind not in "iu" or d.itemsize > 2 for d in dtypes):
        return None
    result = dtype_of(operation.results[0])
    size = prod(shape_of(operation.operands[0])[d] for d in op.dimensions.lhs_contracting)
    if result.kind not in "iu" or size * prod(shape_of(operation.results[0])) < MANY:
        return None
    largest = size * prod(max(-int(np.iinfo(d).min), int(np.iinfo(d).max)) for d in dtypes)
    exact = [d for d in _EXACT if largest <= 1 << (np.finfo(d).nmant + 1)]
    if not exact or largest > np.iinfo(np.int32).max:
        return None
    product = replace(op, dtype=exact[0])(*(convert(x, exact[0]) for x in operation.operands))
    return [convert(convert(product, np.dtype(np.int32)), result)]


LEAST_MATRIX = 1 << 14
"""The elements from which a kernel pays for products of matrices with vectors."""
SMALL_MATRIX, LARGE_MATRIX = 1 << 13, 4 << 20
"""The elements and the bytes of a matrix between which OpenBLAS is faster than the kernel: small
ones are mostly calls, and large ones are read from memory faster by the kernel."""


@legalizes("stablehlo.dot_general", "stablehlo.dot", kind="slow", of="IREE")
def contraction_with_vector(operation: Operation) -> Sequence[Value] | None:
    """Multiply matrices by vectors as sums of products, which the pass `reductions` makes kernels:
    IREE's code takes up to five times as long, and OpenBLAS up to twice as long for small and for
    large matrices. Both add many products one by one.
    """
    op = read_as(dot.DotGeneral, operation)
    dtypes = [dtype_of(v) for v in (*operation.operands, operation.results[0])]
    if op is None or op.algorithm is not None or not all(inexact(d) for d in dtypes):
        return None
    if is_in_marked(operation):  # how many rows there are must not matter
        return None
    (x, y), dims = operation.operands, op.dimensions
    if prod(shape_of(y)[d] for d in dims.rhs_free(len(shape_of(y)))) != 1:
        (x, y), dims = (y, x), dims.swapped
    vector = shape_of(y)
    is_vector = prod(vector[d] for d in dims.rhs_free(len(vector))) == 1
    sums = prod(vector[d] for d in dims.rhs_contracting)
    if not is_vector or sums == 1 or prod(shape_of(x)) < LEAST_MATRIX:
        return None
    size = prod(shape_of(x)[d] for d in range(len(shape_of(x))) if d not in dims.lhs_batching)
    calls_library = blas.calls() is not None and not any(map(_is_narrow, dtypes))
    if (
        calls_library
        and sums <= DEEP
        and SMALL_MATRIX <= size < LARGE_MATRIX // dtype_of(x).itemsize
    ):
        return None
    total = _sum_of_products(op, dims, x, y)
    return [shape.reshape(total, shape_of(operation.results[0]))]


def _sum_of_products(op: dot.DotGeneral, dims: dot.DotDimensions, x: Value, y: Value) -> Value:
    """Build a product of a matrix x and a vector y, which has no other dimensions than x."""
    kept = [*dims.lhs_batching, *dims.lhs_free(len(shape_of(x)))]
    own = dims.rhs_batching + dims.rhs_contracting
    pairs = dict(zip(own, dims.lhs_batching + dims.lhs_contracting, strict=True))
    order = sorted(pairs, key=lambda d: pairs[d])
    turned = shape.transpose(y, [*order, *(d for d in range(len(shape_of(y))) if d not in pairs)])
    vector = shape.reshape(turned, [shape_of(y)[d] for d in order])
    wide = working_dtype(dot.widest(dtype_of(x), dtype_of(y), op.dtype))
    x, vector = convert(x, wide), convert(vector, wide)
    if shape_of(vector) != shape_of(x):
        vector = barrier.barrier(vector)
        vector = shape.BroadcastInDim(shape_of(x), tuple(sorted(pairs.values())))(vector)
    products = elementwise.multiply(x, vector)
    total = reduce.Reduce("add", tuple(sorted(dims.lhs_contracting)))(products, full((), 0, wide))
    places = sorted(kept)
    total = shape.transpose(total, [places.index(d) for d in kept])
    return convert(total, op.dtype)


@legalizes("stablehlo.reduce", kind="bug", of=("IREE", "XLA"))
def reduction_of_one(operation: Operation) -> Sequence[Value] | None:
    """Combine the init value with the operand where nothing is reduced: IREE ignores the init value
    if there are no dimensions, XLA also if all have size 1.
    """
    op = read_as(Op, operation)
    if not isinstance(op, reduce.Reduce | VariadicReduce):
        return None
    operands = list(operation.operands)
    x, init = operands[0], operands[-1]
    sizes = shape_of(x)
    if any(sizes[d] != 1 for d in op.dimensions):
        return None
    if isinstance(op, VariadicReduce):
        return op.define(operands)
    element = shape.reshape(x, [n for d, n in enumerate(sizes) if d not in op.dimensions])
    spread = shape.broadcast_scalar(init, shape_of(element))
    return list(mlir.emit(f"stablehlo.{op.combiner}", [spread, element]).results)


@legalizes("stablehlo.reduce", kind="bug", of=("IREE", "XLA"))
def narrow_reduction(operation: Operation) -> Sequence[Value] | None:
    """Reduce float16 and bfloat16 in float32, for IREE uses no wider accumulator."""
    dtype = dtype_of(operation.results[0])
    op = read_as(reduce.Reduce, operation)
    if op is None or op.combiner not in ("add", "multiply") or not _is_narrow(dtype):
        return None
    wide = op.build([convert(x, FLOAT32) for x in operation.operands])
    return [convert(wide[0], dtype)]


@legalizes("stablehlo.reduce_window", kind="bug", of=("IREE", "XLA"))
def narrow_windows(operation: Operation) -> Sequence[Value] | None:
    """Reduce windows of narrow floats in a wider dtype: IREE and XLA round every partial sum, so a
    sum of ones in bfloat16 stops growing at 256.
    """
    op = read_as(ReduceWindow, operation)
    dtype = dtype_of(operation.results[0])
    if op is None or op.computation not in ("add", "multiply") or working_dtype(dtype) == dtype:
        return None
    (wide,) = op.build([convert(x, working_dtype(dtype)) for x in operation.operands])
    return [convert(wide, dtype)]


@legalizes("stablehlo.scatter", kind="bug", of=("IREE", "XLA"))
def narrow_scatter(operation: Operation) -> Sequence[Value] | None:
    """Combine windows of narrow floats that may overlap in float32: IREE and XLA round every
    partial sum, so a sum of ones in bfloat16 stops growing at 256.
    """
    op, dtype = read_as(Scatter, operation), dtype_of(operation.results[0])
    if op is None or not op.rounds(dtype, shape_of(operation.operands[1])):
        return None
    x, indices, updates = operation.operands
    wide = working_dtype(dtype)
    return [convert(op(convert(x, wide), indices, convert(updates, wide)), dtype)]


@legalizes("stablehlo.reduce", kind="slow", of="IREE")
def extremum_of_bfloat16(operation: Operation) -> Sequence[Value] | None:
    """Compare bfloat16 as float32: IREE converts to that and back in each step."""
    op = read_as(reduce.Reduce, operation)
    dtype = dtype_of(operation.results[0])
    if op is None or op.combiner not in ("maximum", "minimum") or dtype.name != "bfloat16":
        return None
    wide = op.build([convert(x, FLOAT32) for x in operation.operands])
    return [convert(wide[0], dtype)]
