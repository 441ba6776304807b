"""Legalizations of reductions of short rows, such as the sums of many vectors of three numbers, or
the distances of all pairs of vectors.

IREE reduces a row at a time, and its vectors are mostly empty then. Combined column by column, the
vectors hold elements of as many rows: the pass `elementwise` reads a few columns by vectors, and
columns that are computed from smaller arrays are rows of these, transposed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.determinism import is_in_marked
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import shape
from irax_compiler.ops.core import Op, full
from irax_compiler.ops.reductions.reduce import Reduce, is_identity
from irax_compiler.ops.registry import read
from irax_compiler.ops.slicing import Concatenate, Slice
from irax_compiler.passes.core import enclosing
from irax_compiler.passes.legalize.iree.broadcasts import AGAIN, broadcast_in_order
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.matching import made_by
from irax_compiler.passes.rewriting import read_as

LONGEST = 8
"""The most columns that the pass `elementwise` reads by vectors."""
MANY = 1 << 14
"""The fewest elements for which that pays."""
FAR = 8
"""The most operations that are computed column by column, too."""

Columns = Callable[[int], Value]
"""The columns of an array: the elements that are the first, the second, ... of their reduction."""


@legalizes("stablehlo.reduce", kind="slow", of="IREE")
def reduction_of_short_rows(operation: Operation) -> Sequence[Value] | None:
    """Combine the columns of an array with each other where its rows are short: IREE takes two to
    ten times as long.
    """
    op, result = read_as(Reduce, operation), operation.results[0]
    sizes, dtype = shape_of(operation.operands[0]), dtype_of(result)
    if op is None or len(sizes) - 1 not in op.dimensions or not _are_many(operation):
        return None
    count = prod(sizes[d] for d in op.dimensions)
    if not 2 <= count <= LONGEST or dtype.kind not in "biuf":
        return None
    x, init = operation.operands
    columns, _ = _columns(x, op.dimensions, FAR, is_own=_is_own(x, operation))
    total = list(map(columns, range(count)))
    if not is_identity(op.combiner, init):
        total.append(shape.broadcast_scalar(init, shape_of(result)))
    while len(total) > 1:
        pairs = zip(total[::2], total[1::2], strict=False)
        rest = total[len(total) // 2 * 2 :]
        total = [mlir.emit(f"stablehlo.{op.combiner}", [*p]).results[0] for p in pairs] + rest
    return total


@legalizes("stablehlo.reduce", kind="slow", of="IREE")
def reduction_beside_short_rows(operation: Operation) -> Sequence[Value] | None:
    """Reduce columns of short rows, such as the coordinates of forces between all pairs of bodies,
    where the rows are computed from arrays that are broadcast: vectors of columns are full. Outside
    of loops the columns are one array, so that there is one kernel.
    """
    op, x = read_as(Reduce, operation), operation.operands[0]
    sizes = shape_of(x)
    last = len(sizes) - 1
    if op is None or last in op.dimensions or not 2 <= sizes[last] <= LONGEST:
        return None
    if prod(sizes) < MANY or is_in_marked(operation) or dtype_of(x).kind not in "biuf":
        return None
    if any(o.name != Reduce.name for o in mlir.users(x)) or not _is_made_by_columns(x, FAR):
        return None
    kept, init = shape_of(operation.results[0]), operation.operands[1]
    if _is_in_loop(operation):
        columns, _ = _columns(x, (last,), FAR, is_own=True)
        totals = (op(columns(number), init) for number in range(sizes[last]))
        return [Concatenate(len(kept) - 1)(*(shape.reshape(y, (*kept[:-1], 1)) for y in totals))]
    totals = Reduce(op.combiner, tuple(d + 1 for d in op.dimensions))(_last_first(x, {}), init)
    return [shape.transpose(totals, [*range(1, len(kept)), 0])]


def _is_in_loop(operation: Operation) -> bool:
    return any(o.name == "stablehlo.while" for o in enclosing(operation))


def _is_made_by_columns(x: Value, most: int) -> bool:
    """True if an array is computed, by `most` operations on a way, from smaller ones that are
    broadcast.
    """
    if mlir.splat(x) is not None or _is_spread(x):
        return True
    source = mlir.definition(x)
    op = read_as(Op, source) if source is not None else None
    if source is None or op is None or most == 0 or not _is_computed_alike(op, source):
        return False
    return all(_is_made_by_columns(y, most - 1) and _is_own(y, source) for y in source.operands)


def _is_own(x: Value, user: Operation) -> bool:
    """True if a value may be computed again for an operation, the only one to use it otherwise."""
    source = mlir.definition(x)
    return all(o == user for o in mlir.users(x)) or (
        source is not None and (_is_spread(x) or _is_made_of_spread(source))
    )


def _is_spread(x: Value) -> bool:
    """True for a smaller array that is broadcast."""
    spread = made_by(x, shape.BroadcastInDim)
    return spread is not None and prod(shape_of(spread.operand)) < prod(shape_of(x))


def _is_made_of_spread(operation: Operation) -> bool:
    """True if an operation takes smaller arrays that are broadcast: it may be computed again."""
    return all(mlir.splat(x) is not None or _is_spread(x) for x in operation.operands)


LONG = 128
"""The most elements of a row that are folded by rows of the other dimensions instead."""


@legalizes("stablehlo.reduce", kind="slow", of="IREE")
def reduction_of_broadcast_rows(operation: Operation) -> Sequence[Value] | None:
    """Fold along the first dimension what is computed from arrays that are broadcast, such as the
    differences of all pairs of vectors: these arrays are transposed, which are much smaller.
    """
    op, sizes = read_as(Reduce, operation), shape_of(operation.operands[0])
    if op is None or op.dimensions != (len(sizes) - 1,) or not 2 <= sizes[-1] <= LONG:
        return None
    x, init = operation.operands
    if prod(sizes) < MANY or is_in_marked(operation) or dtype_of(x).kind not in "biuf":
        return None
    if not _is_made_of_broadcasts(x, FAR):
        return None
    if sizes[-1] <= LONGEST and _is_in_loop(operation):
        return None  # a loop's kernel stores the elements, unless they are computed by columns
    return [Reduce(op.combiner, (0,))(_last_first(x, {}), init)]


def _is_made_of_broadcasts(x: Value, most: int) -> bool:
    """True if an array is computed, by `most` operations on a way, from much smaller ones."""
    spread = made_by(x, shape.BroadcastInDim)
    if mlir.splat(x) is not None:
        return True
    if spread is not None:
        return prod(shape_of(spread.operand)) * AGAIN <= prod(shape_of(x))
    source, users = mlir.definition(x), list(mlir.users(x))
    op = read_as(Op, source) if source is not None else None
    return (
        source is not None
        and op is not None
        and most > 0
        and all(o == users[0] for o in users)
        and _is_computed_alike(op, source)
        and all(_is_made_of_broadcasts(y, most - 1) for y in source.operands)
    )


def _last_first(x: Value, known: dict[Value, Value]) -> Value:
    """Return an array that is made of broadcasts with its last dimension first; `known` ones are
    not made again.
    """
    if x not in known:
        known[x] = _moved(x, known)
    return known[x]


def _moved(x: Value, known: dict[Value, Value]) -> Value:
    sizes = shape_of(x)
    moved = (sizes[-1], *sizes[:-1])
    constant, spread = mlir.splat(x), made_by(x, shape.BroadcastInDim)
    if constant is not None:
        return full(moved, constant, dtype_of(x))
    if spread is not None:
        places = [(d + 1) % len(sizes) for d in spread.op.broadcast_dimensions]
        return broadcast_in_order(spread.operand, moved, places)
    source = mlir.definition(x)
    assert source is not None
    return read(source)(*(_last_first(y, known) for y in source.operands))


def _are_many(operation: Operation) -> bool:
    """True where it pays, or where bits must not depend on how many there are."""
    return prod(shape_of(operation.operands[0])) >= MANY or is_in_marked(operation)


def _columns(x: Value, dimensions: Sequence[int], most: int, is_own: bool) -> tuple[Columns, int]:
    """Return the columns of an array, and how many operations of `most` are left: elementwise
    operations are computed for each column, if the array is the only user's own.
    """
    others = [d for d in range(len(shape_of(x))) if d not in dimensions]
    kept = tuple(shape_of(x)[d] for d in others)
    constant, spread = mlir.splat(x), made_by(x, shape.BroadcastInDim)
    if constant is not None:
        return lambda _: full(kept, constant, dtype_of(x)), most
    if spread is not None and _is_spread(x):
        return _columns_of_spread(spread.operand, spread.op, dimensions), most
    source = mlir.definition(x)
    op = read_as(Op, source) if source is not None else None
    is_computed = source is not None and op is not None and _is_computed_alike(op, source)
    if source is None or op is None or not (is_computed and is_own and most):
        return lambda number: _column(x, dimensions, number), most
    found, most = [], most - 1
    for y in source.operands:
        columns, most = _columns(y, dimensions, most, _is_own(y, source))
        found.append(columns)
    return lambda i: op(*(columns(i) for columns in found)), most


def _columns_of_spread(x: Value, op: shape.BroadcastInDim, dimensions: Sequence[int]) -> Columns:
    """Return the columns of an array that is broadcast."""
    others = [d for d in range(len(op.shape)) if d not in dimensions]
    kept = tuple(op.shape[d] for d in others)
    own = [i for i, d in enumerate(op.broadcast_dimensions) if d in dimensions]
    places = [others.index(d) for d in op.broadcast_dimensions if d not in dimensions]
    across = [op.broadcast_dimensions[i] for i in own]
    sizes = shape_of(x)

    def column(number: int) -> Value:
        at = dict(
            zip(
                dimensions, np.unravel_index(number, [op.shape[d] for d in dimensions]), strict=True
            )
        )
        found = [0 if sizes[i] == 1 else int(at[d]) for i, d in zip(own, across, strict=True)]
        inner = np.ravel_multi_index(found, [sizes[i] for i in own]) if own else 0
        return shape.BroadcastInDim(kept, tuple(places))(_column(x, own, int(inner)))

    return column


def _column(x: Value, dimensions: Sequence[int], number: int) -> Value:
    """Return the elements at one place along dimensions, by its number in row-major order."""
    sizes = shape_of(x)
    at = dict(
        zip(dimensions, np.unravel_index(number, [sizes[d] for d in dimensions]), strict=True)
    )
    starts = [int(at.get(d, 0)) for d in range(len(sizes))]
    stops = [int(at[d]) + 1 if d in at else n for d, n in enumerate(sizes)]
    part = Slice(tuple(starts), tuple(stops), (1,) * len(sizes))(x)
    return shape.reshape(part, [n for d, n in enumerate(sizes) if d not in at])


def _is_computed_alike(op: Op, operation: Operation) -> bool:
    """True if elements are computed from those in the same place: not from the scalar bounds of
    `clamp`, for one.
    """
    sizes = shape_of(operation.results[0])
    return op.elementwise and all(shape_of(x) == sizes for x in operation.operands)
