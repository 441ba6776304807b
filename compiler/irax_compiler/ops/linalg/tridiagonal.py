"""Systems of tridiagonal matrices, by elimination with pivots along the rows."""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler.mlir import Value, shape_of
from irax_compiler.ops import comparison, elementwise, shape, slicing
from irax_compiler.ops.core import full_like, zeros_like
from irax_compiler.ops.loop_builders import fold_rows


def solve(low: Value, middle: Value, high: Value, right: Value) -> Value:
    """Build the solution of T x = b, of the bands [..., n] of T and b [..., n, k]. The first
    element of `low`, and the last one of `high`, do not matter.
    """
    rank, n = len(shape_of(right)), shape_of(right)[-2]
    if 0 in shape_of(right):
        return right
    bands = [_rows_first(shape.reshape(x, (*shape_of(x), 1)), rank) for x in (low, middle, high)]
    rows = [*bands, _rows_first(right, rank)]
    first, others = [_part(x, 0, 1) for x in rows], [_part(x, 1, n) for x in rows]
    none = zeros_like(_row(first[2]))
    start = [_row(x) for x in first[1:]]
    if n == 1:
        start[1] = none
        pivots = [_wide([start[0]]), _wide([none]), _wide([none]), _wide([start[2]])]
    else:
        last = zeros_like(_part(others[2], n - 2, n - 1))
        others[2] = _joined([_part(others[2], 0, n - 2), last]) if n > 2 else last
        carry = [*start, none, none, none, zeros_like(start[2])]
        stacks = fold_rows(_eliminated, carry, others, keep=True)
        left = [_part(x, n - 2, n - 1) for x in stacks[:3]]
        ends = [left[0], zeros_like(left[0]), zeros_like(left[0]), left[2]]
        pivots = [_joined([x, end]) for x, end in zip(stacks[3:], ends, strict=True)]
    backwards = [slicing.Reverse((0,))(x) for x in pivots]
    zero = zeros_like(_row(_part(rows[3], 0, 1)))
    found, _ = fold_rows(_substituted, [zero, zero], backwards, keep=True)
    return _rows_last(slicing.Reverse((0,))(found), rank)


def _eliminated(*values: Value) -> Sequence[Value]:
    """Eliminate one row with that below it; the last four are the pivot's row."""
    (p, u, r), (lower, q, v, s) = values[:3], values[7:]
    swap = comparison.greater(elementwise.abs(lower), elementwise.abs(p))
    swap_right = _spread(swap, s)
    top, other = comparison.select(swap, lower, p), comparison.select(swap, p, lower)
    is_zero = comparison.equal(top, full_like(top, 0))
    ratio = elementwise.divide(other, comparison.select(is_zero, full_like(top, 1), top))
    ratio_right = _spread(ratio, s)
    zero = zeros_like(v)
    rest = comparison.select(swap, _less(u, ratio, q), _less(q, ratio, u))
    beyond = comparison.select(swap, elementwise.negate(elementwise.multiply(ratio, v)), v)
    rest_right = comparison.select(swap_right, _less(r, ratio_right, s), _less(s, ratio_right, r))
    pivot = [
        top,
        comparison.select(swap, q, u),
        comparison.select(swap, v, zero),
        comparison.select(swap_right, s, r),
    ]
    return [rest, beyond, rest_right, *pivot]


def _substituted(*values: Value) -> Sequence[Value]:
    """Solve for one row, of the solutions of the two below it."""
    after, beyond, top, first, second, right = values
    known = elementwise.add(
        elementwise.multiply(_spread(first, after), after),
        elementwise.multiply(_spread(second, after), beyond),
    )
    return [elementwise.divide(elementwise.subtract(right, known), _spread(top, right)), after]


def _less(x: Value, factor: Value, y: Value) -> Value:
    return elementwise.subtract(x, elementwise.multiply(factor, y))


def _spread(x: Value, like: Value) -> Value:
    """An array [..., 1] as wide as another."""
    return shape.BroadcastInDim(shape_of(like), tuple(range(len(shape_of(x)))))(x)


def _rows_first(x: Value, rank: int) -> Value:
    return shape.Transpose((rank - 2, *range(rank - 2), rank - 1))(x)


def _rows_last(x: Value, rank: int) -> Value:
    return shape.Transpose((*range(1, rank - 1), 0, rank - 1))(x)


def _part(x: Value, start: int, end: int) -> Value:
    rest = shape_of(x)[1:]
    ones = (1,) * (len(rest) + 1)
    return slicing.Slice((start, *(0,) * len(rest)), (end, *rest), ones)(x)


def _row(x: Value) -> Value:
    return shape.reshape(x, shape_of(x)[1:])


def _wide(rows: Sequence[Value]) -> Value:
    return _joined([shape.reshape(x, (1, *shape_of(x))) for x in rows])


def _joined(xs: Sequence[Value]) -> Value:
    return slicing.Concatenate(0)(*xs) if len(xs) > 1 else xs[0]
