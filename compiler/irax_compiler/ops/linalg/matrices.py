"""Building blocks of the rules of factorizations: parts, sums and permutations of matrices, which
are the last two dimensions of a value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Type, Value, dtype_of, shape_of
from irax_compiler.ops import bitwise, comparison, conversion, elementwise, shape, slicing
from irax_compiler.ops.composite import ComposedOp
from irax_compiler.ops.core import Axis, full, full_like, zeros_like
from irax_compiler.ops.reduction_builders import reduce_sum
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.sharding_rule import Shape, ShardingRule, of_matrices
from irax_compiler.ops.transformation import Batching
from irax_compiler.sizes import smaller

INT32 = np.dtype(np.int32)
ALL = slice(None)


class Factorization(ComposedOp):
    """A factorization of one operand, whose leading dimensions are batch dimensions."""

    num_results: ClassVar[int] = -1
    superlinear = True
    needs_whole = True

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        return of_matrices(operands, results)

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        results = self.build([shape.move_axis(operands[0], axes[0], 0)])
        return results, [0] * len(results)


class LibraryOp(Factorization):
    """One without a decomposition: only a target that has a library for it runs it."""

    def library_types(self, type_: Type) -> Sequence[Type]:
        """The types of the results for the operand's."""
        raise NotImplementedError

    def _decomposition(self, types: tuple[Type, ...]) -> Operation:
        module = mlir.open_module()
        name = self.decomposition_name(types)
        there = mlir.functions(module)
        if name in there:
            return there[name]
        with mlir.current_location():
            return mlir.declare_function(module, name, types, self.library_types(types[0]))


def of_finite(
    function: Callable[[np.ndarray], Sequence[np.ndarray]], x: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return NumPy's results for matrices, with nan for matrices that are not finite or for which
    NumPy raises an error.
    """
    good = np.asarray(np.isfinite(x).all((-2, -1)))
    x = np.where(good[..., None, None], x, 0)
    try:
        results = function(x)
    except np.linalg.LinAlgError:  # no convergence
        good = np.zeros_like(good)
        results = function(np.zeros_like(x))
    for result in results:
        result[~good] = np.nan
    return tuple(results)


# ---- parts ---------------------------------------------------------------------------------------


def numbers(extents: Sequence[int], from_last: int) -> Value:
    """The numbers along a dimension, counted from the last, which is 1: of columns; 2: of rows."""
    return shape.Iota(tuple(extents), INT32, len(extents) - from_last)()


def along(x: Value, like: Sequence[int], missing: int) -> Value:
    """`x`, repeated along dimension `missing` (counted from the last, 1) of a shape."""
    kept = [d for d in range(len(like)) if d != len(like) - missing]
    return shape.BroadcastInDim(tuple(like), tuple(kept))(x)


def per_matrix(x: Value, like: Sequence[int]) -> Value:
    """Broadcast a value that has one element per matrix (or vector) of a batch to the shape of the
    batch.
    """
    return shape.BroadcastInDim(tuple(like), tuple(range(len(shape_of(x)))))(x)


def total(x: Value, from_last: int) -> Value:
    """The sum along a dimension, counted from the last, which is 1."""
    return reduce_sum(x, (len(shape_of(x)) - from_last,))


def part(x: Value, rows: slice, columns: slice) -> Value:
    """Some rows and columns of matrices."""
    *batch, m, n = shape_of(x)
    start = (*[0] * len(batch), rows.start or 0, columns.start or 0)
    ends = (n if s.stop is None else smaller(s.stop, n) for s, n in ((rows, m), (columns, n)))
    end = (*batch, *ends)
    return slicing.slice_(x, start, end, (1,) * len(end))


def where(condition: Value, x: Value) -> Value:
    """`x` where a condition holds, zero elsewhere."""
    return comparison.select(condition, x, zeros_like(x))


def on_diagonal(like: Sequence[int]) -> Value:
    """Return a mask that is true on the diagonals of matrices of the given shape."""
    return comparison.equal(numbers(like, 2), numbers(like, 1))


def identity(like: Value) -> Value:
    """Ones on the diagonal."""
    return where(on_diagonal(shape_of(like)), full_like(like, 1))


def diagonal(x: Value) -> Value:
    """The diagonals of matrices with no more columns than rows, as vectors."""
    return total(where(on_diagonal(shape_of(x)), x), 2)


def reciprocal_or_zero(x: Value) -> Value:
    """1 / x; zero where x is."""
    zero = comparison.equal(x, zeros_like(x))
    safe = comparison.select(zero, full_like(x, 1), x)
    inverse = elementwise.divide(full_like(x, 1), safe)
    return comparison.select(zero, zeros_like(x), inverse)


def reciprocal_beside_diagonal(x: Value) -> Value:
    """1 / x; zero on the diagonal."""
    on = on_diagonal(shape_of(x))
    one = full_like(x, 1)
    inverse = elementwise.divide(one, comparison.select(on, one, x))
    return comparison.select(on, zeros_like(x), inverse)


def squares(x: Value) -> Value:
    """|x|^2, which is real."""
    if dtype_of(x).kind != "c":
        return elementwise.multiply(x, x)
    return elementwise.real(elementwise.multiply(x, elementwise.conjugate(x)))


def adapted(x: Value, like: Value) -> Value:
    """Real numbers in the dtype of `like`, which may be complex."""
    return conversion.convert(x, dtype_of(like))


# ---- choosing and exchanging rows ----------------------------------------------------------------


def largest_from(size: Value, k: Value) -> Value:
    """In each row, the number of the first of the largest values from element k on."""
    extents = shape_of(size)
    places = numbers(extents, 1)
    allowed = comparison.greater_equal(places, shape.broadcast_scalar(k, extents))
    size = comparison.select(allowed, size, full_like(size, -1))
    last = len(extents) - 1
    lowest = full((), -np.inf, dtype_of(size))
    best = along(reduce.Reduce("maximum", (last,))(size, lowest), extents, 1)
    is_best = bitwise.and_(allowed, comparison.equal(size, best))
    found = comparison.select(is_best, places, full_like(places, extents[-1] - 1))
    return reduce.Reduce("minimum", (last,))(found, full((), extents[-1] - 1, INT32))


def exchanged(x: Value, k: Value, other: Value, from_last: int) -> Value:
    """Element k along a dimension, counted from the last, and element `other`, exchanged."""
    extents = shape_of(x)
    places = numbers(extents, from_last)
    at_k = comparison.equal(places, shape.broadcast_scalar(k, extents))
    at_other = comparison.equal(places, per_matrix(other, extents))
    first = along(total(where(at_k, x), from_last), extents, from_last)
    second = along(total(where(at_other, x), from_last), extents, from_last)
    return comparison.select(at_k, second, comparison.select(at_other, first, x))
