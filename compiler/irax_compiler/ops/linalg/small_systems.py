"""Many systems of few equations: elimination as elementwise operations on the batch."""

from __future__ import annotations

from math import prod

from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import barrier, comparison, elementwise, shape, slicing
from irax_compiler.ops.core import zeros_like
from irax_compiler.sizes import is_symbolic

MOST_ROWS, MOST_COLUMNS = 4, 4
"""The most equations, and right sides, of a system: operations grow with the cube of these."""
MANY = 512
"""The systems from which this is faster than a library, which solves one after the other."""


def is_known(a: Value, b: Value) -> bool:
    """True for many small systems A X = B of real numbers."""
    *batch, rows, columns = shape_of(b)
    if any(map(is_symbolic, (*batch, rows, columns))) or dtype_of(a).kind != "f":
        return False
    return 0 < rows <= MOST_ROWS and 0 < columns <= MOST_COLUMNS and prod(batch) >= MANY


def solved(a: Value, b: Value) -> Value:
    """Return X, by elimination with the pivots that LAPACK takes: the first of the largest. Each
    element of a matrix is a vector along the batch.
    """
    *_, n, columns = shape_of(b)
    rows = [left + right for left, right in zip(_elements(a), _elements(b), strict=True)]
    for k in range(n):
        for i in range(k + 1, n):
            rows[k], rows[i] = _larger_first(rows[k], rows[i], k)
        pivot = rows[k][k]
        is_zero = comparison.equal(pivot, zeros_like(pivot))
        for i in range(k + 1, n):
            ratio = elementwise.divide(rows[i][k], pivot)
            ratio = comparison.select(is_zero, zeros_like(ratio), ratio)
            rows[i] = [
                x if j <= k else elementwise.subtract(x, elementwise.multiply(ratio, y))
                for j, (x, y) in enumerate(zip(rows[i], rows[k], strict=True))
            ]
    found: list[list[Value]] = [[] for _ in range(n)]
    for i in reversed(range(n)):
        for c in range(columns):
            rest = rows[i][n + c]
            for j in range(i + 1, n):
                rest = elementwise.subtract(rest, elementwise.multiply(rows[i][j], found[j][c]))
            found[i].append(elementwise.divide(rest, rows[i][i]))
    return _array([x for row in found for x in row], shape_of(b))


def _elements(x: Value) -> list[list[Value]]:
    """Return the elements of matrices, each along the batch: they are neighbours then."""
    *batch, rows, columns = shape_of(x)
    count = prod(batch)
    flat = shape.reshape(x, (count, rows * columns))
    (turned,) = barrier.barrier.build([shape.transpose(flat, (1, 0))])

    def element(i: int, j: int) -> Value:
        place = i * columns + j
        return shape.reshape(slicing.slice_in_dim(turned, place, place + 1, 0), (count,))

    return [[element(i, j) for j in range(columns)] for i in range(rows)]


def _array(elements: list[Value], extents: tuple[int, ...]) -> Value:
    """Return matrices of such elements."""
    count = shape_of(elements[0])[0]
    lines = [shape.reshape(x, (1, count)) for x in elements]
    whole = slicing.Concatenate(0)(*lines) if len(lines) > 1 else lines[0]
    (whole,) = barrier.barrier.build([whole])
    return shape.reshape(shape.transpose(whole, (1, 0)), extents)


def _larger_first(x: list[Value], y: list[Value], k: int) -> tuple[list[Value], list[Value]]:
    """Return two rows, that with the larger element k first; those before it are zeros."""
    swaps = comparison.greater(elementwise.abs(y[k]), elementwise.abs(x[k]))
    pairs = list(zip(x, y, strict=True))
    first = [a if j < k else comparison.select(swaps, b, a) for j, (a, b) in enumerate(pairs)]
    second = [b if j < k else comparison.select(swaps, a, b) for j, (a, b) in enumerate(pairs)]
    return first, second
