"""Products of arrays in memory.

Of one factor, several columns are read at a time; of the other, single elements of some rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from irax_compiler import chips
from irax_compiler.mlir import Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import registers, shape
from irax_compiler.ops.registers import emit
from irax_compiler.passes.kernels.code.places import moved
from irax_compiler.passes.kernels.loops import nests, vectors
from irax_compiler.passes.kernels.loops.arrays import Array, Place
from irax_compiler.passes.kernels.loops.nests import LANES
from irax_compiler.passes.kernels.loops.stored import New, copied, folded

ROWS = 8
"""The most rows that are multiplied together."""
FEW = 2
"""The most rows for which a factor is read as it lies in memory."""
SUMS = {16: 12, 32: 16}
"""The vector registers that are filled with sums, by the number of all. More are slower: LLVM
spills some, or their rows are too far apart."""


def product(
    operation: Operation, left: Array, right: Array, left_has_columns: bool, new: New
) -> Array:
    """Lower `stablehlo.dot_general`."""
    d = vectors.product_dimensions(operation)
    x = _Factor.of(left, d.lhs_batching, d.lhs_contracting)
    y = _Factor.of(right, d.rhs_batching, d.rhs_contracting)
    if left_has_columns:
        x, y = y, x
    by_rows = _has_rows(x, y)
    if not by_rows:
        y = y.with_columns(new)
    batch, rows, columns = (part.extents for part in (x.batch, x.free, y.free))
    result = new(dtype_of(operation.results[0]), (*batch, *rows, *columns))
    over_rows = _strided(x.array, result, (*x.batch.strides, *x.free.strides, *(0,) * len(columns)))
    over_columns = _strided(y.array, result, (*y.batch.strides, *(0,) * len(rows), *y.free.strides))
    if by_rows:
        _add_up([over_rows, over_columns, result], x.depth, y.depth)
    else:
        last = len(batch) + len(rows) - 1 if rows else None
        _multiply([over_rows, over_columns, result], x.depth, y.depth, last, prod(columns))
    if not left_has_columns:
        return result
    b, r, n = len(batch), len(batch) + len(rows), len(result.extents)
    return result.ordered((*range(b), *range(r, n), *range(b, r)))


def left_has_columns(operation: Operation) -> bool:
    """True if it is the left factor of which several columns are read at a time: that whose columns
    are side by side, or the one with more of them.
    """
    has_columns = [n >= LANES for n in columns(operation)]
    if has_columns[0] != has_columns[1]:
        return has_columns[0]
    d = vectors.product_dimensions(operation)
    left, right = (shape_of(x) for x in operation.operands)
    rows = prod(left[i] for i in d.lhs_free(len(left)))
    return rows > prod(right[i] for i in d.rhs_free(len(right)))


def columns(operation: Operation) -> tuple[int, int]:
    """Return how many elements along their free dimensions are side by side in the factors."""
    d = vectors.product_dimensions(operation)
    left, right = (shape_of(x) for x in operation.operands)
    return (
        left[-1] if len(left) - 1 in d.lhs_free(len(left)) else 1,
        right[-1] if len(right) - 1 in d.rhs_free(len(right)) else 1,
    )


def with_columns(operation: Operation, factor: Value) -> tuple[Value, Callable[[Array], Array]]:
    """Transpose a factor for a product, at the insertion point, so that the elements along its free
    dimensions are side by side. Return it, and a function that undoes this for its array.
    """
    d = vectors.product_dimensions(operation)
    if operation.operands[0] != factor:
        d = d.swapped
    rank = len(shape_of(factor))
    order = (*d.lhs_batching, *d.lhs_contracting, *d.lhs_free(rank))
    back = [order.index(i) for i in range(rank)]
    return shape.transpose(factor, order), lambda array: array.ordered(back)


@dataclass(frozen=True)
class _Factor:
    """A factor, with its parts along the batching, free and contracting dimensions."""

    array: Array
    dimensions: tuple[Sequence[int], Sequence[int], Sequence[int]]

    @classmethod
    def of(cls, array: Array, batching: Sequence[int], contracting: Sequence[int]) -> _Factor:
        others = range(len(array.extents))
        free = [d for d in others if d not in batching and d not in contracting]
        return cls(array, (batching, free, contracting))

    @property
    def batch(self) -> Array:
        return self.array.ordered(self.dimensions[0])

    @property
    def free(self) -> Array:
        return self.array.ordered(self.dimensions[1])

    @property
    def depth(self) -> Array:
        return self.array.ordered(self.dimensions[2])

    def with_columns(self, new: New) -> _Factor:
        """Return the factor with the elements along its free dimensions side by side."""
        strides = self.free.squeezed().strides
        if not strides or strides[-1] == 1:
            return self
        batching, free, contracting = self.dimensions
        array = copied(self.array.ordered((*batching, *contracting, *free)), new)
        b, k = len(batching), len(batching) + len(contracting)
        return _Factor.of(array, range(b), range(b, k))


def _has_rows(x: _Factor, y: _Factor) -> bool:
    """True if the sums for a few rows are best found by reading both factors along what is summed
    over: to lay out the second one anew would take longer.
    """
    inner = [array.squeezed().strides[-1:] for array in (x.depth, y.depth)]
    is_wide = x.array.dtype.kind == "f" and x.array.dtype.itemsize >= 4
    is_read = inner == [(1,), (1,)] and x.depth.squeezed().extents[-1] >= LANES
    return is_wide and is_read and x.free.size <= FEW and y.free.squeezed().strides[-1:] != (1,)


def _add_up(arrays: Sequence[Array], x: Array, y: Array) -> None:
    """Build the loops over the elements of a result, each a sum along both factors."""
    zero = registers.constant(np.zeros((), x.dtype))

    def body(size: int, places: list[Place]) -> None:
        inside = [replace(x, base=places[0].at), replace(y, base=places[1].at)]
        (total,) = folded(
            nests.collapsed(inside),
            [zero],
            lambda sums, each: [vectors.multiply_add(each[0], each[1], sums[0], x.dtype)],
            lambda sums, parts: [emit("arith.addf", sums[0], parts[0])],
        )
        places[2].write(total)

    nests.each(arrays, body, 1)


def _strided(array: Array, result: Array, strides: Sequence[int]) -> Array:
    return replace(array, extents=result.extents, strides=tuple(strides))


def _multiply(arrays: Sequence[Array], x: Array, y: Array, rows: int | None, columns: int) -> None:
    """Build the loops over the elements of a result: `arrays` are the factors at its indices, and
    itself; `x` and `y` the factors in what is summed over; `rows` a dimension of the result.
    """
    vector = chips.vector_registers()
    size = vector.bytes * SUMS[vector.number]
    count = 1 if rows is None else arrays[0].extents[rows]
    most = max(1, min(ROWS, size // (LANES * _dtype_of_sums(x.dtype).itemsize)))
    remaining = count % most
    for first, part, together in (
        (0, count - remaining, most),
        (count - remaining, remaining, remaining),
    ):
        if not part:
            continue
        steps = [0 if rows is None else array.strides[rows] for array in arrays]
        some = arrays if rows is None else [_blocks(a, rows, first, part, together) for a in arrays]
        block = _Block(x, y, together, steps[0], steps[2])
        sums = size // (block.dtype.itemsize * together)
        lanes = max(LANES, 1 << (sums.bit_length() - 1)) if columns > 1 else 1
        for same, width in _by_columns(some, lanes, columns) if lanes > 1 else [(some, 1)]:
            nests.each(same, block.build, width)


def _by_columns(
    arrays: Sequence[Array], lanes: int, columns: int
) -> list[tuple[Sequence[Array], int]]:
    """Return the parts of arrays with blocks of `lanes` columns and with the remaining ones, each
    with the most columns at a time: a single column has none beside it. Blocks of rows are inside
    of blocks of columns, so that these columns of a factor stay in the cache.
    """
    last = len(arrays[0].extents) - 1
    own = arrays[0].extents[last] if last > 0 else 0
    rest = own % lanes
    whole = own - rest
    if whole <= lanes:
        return [(arrays, lanes)]

    def in_blocks(array: Array) -> Array:
        block = _blocks(array, last, 0, whole, lanes)
        extents, strides = (*block.extents, lanes), (*block.strides, array.strides[last])
        outer = (*range(last - 1), last, last - 1, last + 1)
        return replace(block, extents=extents, strides=strides).ordered(outer)

    parts: list[tuple[Sequence[Array], int]] = [([in_blocks(x) for x in arrays], lanes)]
    if rest:
        width = lanes if rest * (columns // own) > 1 else 1
        parts.append(([_blocks(x, last, whole, rest, 1) for x in arrays], width))
    return parts


def _blocks(array: Array, d: int, first: int, count: int, size: int) -> Array:
    """Return the first elements of blocks of a dimension."""
    extents, strides = list(array.extents), list(array.strides)
    base = moved(array.base, registers.index(first), strides[d] if first else 0)
    extents[d], strides[d] = count // size, strides[d] * size
    return replace(array, base=base, extents=tuple(extents), strides=tuple(strides))


def _dtype_of_sums(dtype: np.dtype) -> np.dtype:
    return np.dtype(np.float32) if inexact(dtype) and dtype.itemsize < 4 else dtype


@dataclass(frozen=True)
class _Block:
    """The sums for some rows and columns."""

    x: Array
    y: Array
    rows: int
    row: int
    """The distance between rows of `x`."""
    result_row: int

    @property
    def dtype(self) -> np.dtype:
        """The dtype of sums."""
        return _dtype_of_sums(self.x.dtype)

    def build(self, size: int, places: list[Place]) -> None:
        x, y, result = places
        zero = registers.spread(registers.constant(np.zeros((), self.dtype)), size)

        def step(at: list[Place], sums: list[Value]) -> list[Value]:
            column = self._wide(replace(at[1], distance=y.distance).read(size))
            rows = (self._row(at[0], i, self.row) for i in range(self.rows))
            each = (registers.spread(self._wide(place.read(1)), size) for place in rows)
            return [
                vectors.multiply_add(z, column, total, self.dtype)
                for z, total in zip(each, sums, strict=True)
            ]

        inside = [replace(self.x, base=x.at), replace(self.y, base=y.at)]
        arrays, zeros = nests.collapsed(inside), [zero] * self.rows
        sums = nests.fold_in_blocks(arrays, zeros, step, self._together)
        for i, total in enumerate(sums):
            narrow = registers.with_elements(total, result.dtype)
            found = total if self.dtype == self.x.dtype else emit("arith.truncf", total, to=narrow)
            self._row(result, i, self.result_row).write(found)

    def _together(self, xs: registers.Registers, ys: registers.Registers) -> list[Value]:
        add = "arith.addf" if inexact(self.dtype) else "arith.addi"
        return [emit(add, x, y) for x, y in zip(xs, ys, strict=True)]

    def _row(self, place: Place, i: int, distance: int) -> Place:
        return replace(place, at=moved(place.at, registers.index(i), distance if i else 0))

    def _wide(self, x: Value) -> Value:
        if self.dtype == self.x.dtype:
            return x
        return emit("arith.extf", x, to=registers.with_elements(x, self.dtype))
