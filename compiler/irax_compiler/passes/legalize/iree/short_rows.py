"""The legalization of reductions of short rows, such as the sums of many vectors of three numbers.

IREE reduces a row at a time, and its vectors are mostly empty then. Combined column by column, the
vectors hold elements of as many rows; the pass `elementwise` reads columns by vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import shape
from irax_compiler.ops.core import Op, full
from irax_compiler.ops.reductions.reduce import Reduce, is_identity
from irax_compiler.ops.slicing import slice_in_dim
from irax_compiler.passes.legalization import legalizes
from irax_compiler.passes.rewriting import read_as
from irax_compiler.passes.simplify.matching import made_by

LONGEST = 8
"""The most columns that the pass `elementwise` reads by vectors."""
MANY = 1 << 14
"""The fewest elements for which that pays."""
FAR = 8
"""The most operations that are computed column by column, too."""

Columns = Callable[[int], Value]
"""The columns of an array, by their numbers."""


@legalizes("stablehlo.reduce", kind="slow", of="IREE")
def reduction_of_short_rows(operation: Operation) -> Sequence[Value] | None:
    """Combine the columns of an array with each other where its rows are short: IREE takes two to
    ten times as long.
    """
    op, result = read_as(Reduce, operation), operation.results[0]
    sizes, dtype = shape_of(operation.operands[0]), dtype_of(result)
    if op is None or op.dimensions != (len(sizes) - 1,) or prod(sizes) < MANY:
        return None
    is_wide = dtype.kind in "iuf" and dtype.itemsize >= 4
    if not 2 <= sizes[-1] <= LONGEST or not (is_wide or dtype == np.bool_):
        return None
    x, init = operation.operands
    columns, _ = _columns(x, FAR)
    total = list(map(columns, range(sizes[-1])))
    if not is_identity(op.combiner, init):
        total.append(shape.broadcast_scalar(init, shape_of(result)))
    while len(total) > 1:
        pairs = zip(total[::2], total[1::2], strict=False)
        rest = total[len(total) // 2 * 2 :]
        total = [mlir.emit(f"stablehlo.{op.combiner}", [*p]).results[0] for p in pairs] + rest
    return total


def _columns(x: Value, most: int) -> tuple[Columns, int]:
    """Return the columns of an array, and how many operations of `most` are left: elementwise
    operations that nothing else uses are computed for each column.
    """
    kept = shape_of(x)[:-1]
    constant, spread = mlir.splat(x), made_by(x, shape.BroadcastInDim)
    if constant is not None:
        return lambda _: full(kept, constant, dtype_of(x)), most
    if spread is not None and len(kept) not in spread.op.broadcast_dimensions:
        column = shape.BroadcastInDim(kept, spread.op.broadcast_dimensions)
        return lambda _: column(spread.operand), most
    source = mlir.definition(x)
    op = read_as(Op, source) if source is not None and mlir.num_uses(x) == 1 else None
    if source is None or op is None or most == 0 or not _is_computed_alike(op, source):
        return lambda i: shape.reshape(slice_in_dim(x, i, i + 1, len(kept)), kept), most
    found, most = [], most - 1
    for y in source.operands:
        columns, most = _columns(y, most)
        found.append(columns)
    return lambda i: op(*(columns(i) for columns in found)), most


def _is_computed_alike(op: Op, operation: Operation) -> bool:
    """True if elements are computed from those in the same place: not from the scalar bounds of
    `clamp`, for one.
    """
    sizes = shape_of(operation.results[0])
    return op.elementwise and all(shape_of(x) == sizes for x in operation.operands)
