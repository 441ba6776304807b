"""Products of matrices in the form of BLAS's arguments: the strides of each matrix in its array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import conversion, shape
from irax_compiler.ops.dot import DotGeneral
from irax_compiler.passes.kernels.blas import tile_shapes, tiles
from irax_compiler.passes.kernels.blas.epilogues import Epilogue, epilogue_of
from irax_compiler.passes.kernels.division import equal_parts
from irax_compiler.passes.kernels.views import axes, contiguous
from irax_compiler.passes.rewriting import without_reshapes
from irax_compiler.sizes import Size

LARGE, TURNED = 1_000_000, 4_000_000
"""The fewest multiplications and additions for which code of irax's own pays, and where it turns
the right factor, which takes a tenth of a second more to compile; of float64, which take twice as
long, half as many.
"""
EACH = 8192
"""The fewest of them in each product for it."""
WIDE, ROWS = 8, 2
"""The fewest columns or terms, and rows for it; where the right factor is turned, as many rows as
columns.
"""

Dimensions = Sequence[int]
Groups = tuple[Dimensions, Dimensions, Dimensions]
"""The dimensions of a batch, those that are rows, and those that are columns."""


@dataclass(frozen=True)
class Matrices:
    """Matrices of one shape in an array, one for each index of the batch. All strides are in
    elements.
    """

    rows: int
    """The stride of rows."""
    columns: int
    batch: tuple[int, ...]
    size: int
    """The number of elements of the array."""

    @property
    def is_dense(self) -> bool:
        """True if rows or columns are contiguous."""
        return 1 in (self.rows, self.columns)

    @property
    def transposed(self) -> Matrices:
        """The transposes of the matrices, in the same array."""
        return replace(self, rows=self.columns, columns=self.rows)

    def parts(self, extents: Sequence[int], rows: int, columns: int) -> int:
        """Return the number of parts of the array in which the products of a batch of some extents
        have matrices of so many rows and columns.
        """
        span = 1 + (rows - 1) * self.rows + (columns - 1) * self.columns
        return equal_parts(self.size, extents, self.batch, span)


@dataclass(frozen=True)
class Product:
    """Products of [m, k] by [k, n] matrices."""

    dtype: np.dtype
    batch: tuple[int, ...]
    m: Any
    n: Any
    k: Any
    lhs: Matrices
    rhs: Matrices
    out: Matrices
    is_invariant: bool = False
    """True if the bits of an element must not depend on the numbers of rows, columns and products:
    its sum is always in the same order."""

    @property
    def count(self) -> int:
        """Return the number of products."""
        return prod(self.batch)

    @property
    def is_sized(self) -> bool:
        """True if sizes are not known."""
        return any(isinstance(n, Size) for n in (self.m, self.n, self.k, *self.batch))

    @property
    def is_of_vector(self) -> bool:
        """True if one factor is a vector."""
        return 1 in (self.m, self.n)

    @property
    def is_of_lines(self) -> bool:
        """True if code of irax's own multiplies (see `tiles`): in 0.4 to 1 of the time of IREE's
        or OpenBLAS's. `python -m benchmarks.tiles` compares them.
        """
        if self.is_sized or self.is_invariant:
            return self.is_invariant
        is_dense = self.lhs.is_dense and self.rhs.is_dense and self.out.columns == 1
        is_turned = self.rhs.columns != 1
        is_wide = min(self.n, self.k) >= WIDE and self.m >= (WIDE if is_turned else ROWS)
        enough = (TURNED if is_turned else LARGE) * 4 // self.dtype.itemsize
        is_large = self.operations >= max(enough, EACH * self.count)
        return is_dense and is_large and is_wide and tile_shapes.pay_for_products(self.dtype)

    @property
    def lines(self) -> tiles.Lines:
        """Return the product for that code: it is one line."""
        lhs, rhs = ((x.rows, x.columns) for x in (self.lhs, self.rhs))
        rhs = rhs if self.n > 1 else (self.rhs.rows, 1)
        part = tiles.PART if self.is_invariant else None
        return tiles.Lines(
            self.dtype, self.m, self.k, self.n, lhs, rhs, self.out.rows, part=part, is_alone=True
        )

    @property
    def line(self) -> int:
        """Return the number of elements of the result that are neighbours in memory: those of a
        row, or of a column.
        """
        return self.n if self.out.columns == 1 else self.m

    @property
    def operations(self) -> int:
        """Return the number of multiplications and additions of real numbers."""
        return (8 if self.dtype.kind == "c" else 2) * self.count * self.m * self.n * self.k


@dataclass(frozen=True)
class Factor:
    """The array that a factor's elements are in, and where."""

    array: Value
    matrices: Matrices
    order: Dimensions = ()
    """The permutation of the array's dimensions that is done first, if any."""

    def build(self) -> Value:
        """Build the array that the product reads."""
        return shape.transpose(self.array, self.order) if self.order else self.array


@dataclass(frozen=True)
class Layout:
    """A product, its factors, and the value that is its result: that of the operation, or a
    transpose of it.
    """

    product: Product
    lhs: Factor
    rhs: Factor
    result: Value

    def operands(self) -> list[Value]:
        """Build the arrays that the product reads, in the dtype that it is summed in."""
        return [conversion.convert(x.build(), self.product.dtype) for x in (self.lhs, self.rhs)]

    def epilogue(self) -> Epilogue | None:
        """Return what the dispatch of a product of matrices computes as well, if anything."""
        product = self.product
        if product.is_of_vector or product.dtype != dtype_of(self.result):
            return None
        factors = [without_reshapes(factor.array) for factor in (self.lhs, self.rhs)]
        return epilogue_of(self.result, product.line, factors)


def layout(
    operation: Operation, op: DotGeneral, dtype: np.dtype, is_invariant: bool = False
) -> Layout | None:
    """Return the layout of a `dot_general` that is summed in `dtype`; None if no call of BLAS
    computes it. Those that are `is_invariant` are for code of irax's own.

    Transposes of factors, and one of the result if that is all that reads it, are part of the
    product. Factors that BLAS has no layout for are laid out anew.
    """
    x, y = operation.operands
    dims, x_shape, y_shape = op.dimensions, shape_of(x), shape_of(y)
    x_free, y_free = dims.lhs_free(len(x_shape)), dims.rhs_free(len(y_shape))
    m, k = _extent(x_shape, x_free), _extent(x_shape, dims.lhs_contracting)
    n = _extent(y_shape, y_free)
    is_of_one = m == n == 1 and not is_invariant
    if k in (0, 1) or is_of_one or 0 in (*x_shape, *y_shape):
        return None
    of_lhs, of_rhs = (
        (dims.lhs_batching, x_free, dims.lhs_contracting),
        (dims.rhs_batching, dims.rhs_contracting, y_free),
    )
    lhs = _factor(x, of_lhs, n == 1, is_invariant)
    rhs = _factor(y, of_rhs, m == 1, is_invariant)
    if lhs is None or rhs is None:
        return None
    batch = tuple(x_shape[d] for d in dims.lhs_batching)
    groups = _groups(len(batch), len(x_free), len(y_free))
    result = operation.results[0]
    for candidate in (None if is_invariant else _transposed(result), result):
        out = None if candidate is None else _result(result, candidate, groups)
        if candidate is not None and out is not None and (1 in (m, n) or out.is_dense):
            factors = lhs.matrices, rhs.matrices
            product = Product(dtype, batch, m, n, k, *factors, out, is_invariant)
            return Layout(product, lhs, rhs, candidate)
    return None


def _extent(extents: Sequence[int], group: Dimensions) -> int:
    return prod(extents[d] for d in group)


def _groups(batch: int, rows: int, columns: int) -> Groups:
    """The dimensions of a batch, of rows and of columns, in that order."""
    ends = batch, batch + rows, batch + rows + columns
    return range(ends[0]), range(ends[0], ends[1]), range(ends[1], ends[2])


def _factor(x: Value, groups: Groups, is_of_vector: bool, copies: bool) -> Factor | None:
    """Return a factor. Unless it `copies` those too, None if one of both is a vector and this one
    would have to be copied.
    """
    array, strides = _strided(x)
    found = _matrices(shape_of(x), strides, groups)
    is_vector = 1 in (_extent(shape_of(x), group) for group in groups[1:])
    if found is not None and (found.is_dense or is_vector):
        return Factor(array, found)
    if (is_of_vector or is_vector) and not copies:
        return None
    order = [d for group in groups for d in group]
    extents = [shape_of(x)[d] for d in order]
    fresh = _matrices(extents, contiguous(extents), _groups(*map(len, groups)))
    return None if fresh is None else Factor(x, fresh, order)


def _result(result: Value, array: Value, groups: Groups) -> Matrices | None:
    """Return the layout of a product in its result, or in a transpose of the result."""
    strides = contiguous(shape_of(array))
    if array != result:
        permutation = _permutation(array)
        strides = [strides[permutation.index(d)] for d in range(len(strides))]
    return _matrices(shape_of(result), strides, groups)


def _transposed(result: Value) -> Value | None:
    """The transpose of a value, if nothing else reads it."""
    users = mlir.users(result)
    if len(users) != 1 or users[0].name != shape.Transpose.name:
        return None
    return users[0].results[0]


def _permutation(transposed: Value) -> list[int]:
    source = mlir.definition(transposed)
    assert source is not None
    return [*shape.Transpose.read(source).permutation]  # pyright: ignore


def _strided(x: Value) -> tuple[Value, Sequence[int]]:
    """Return the array that has a value's elements, and its strides."""
    source = mlir.definition(x)
    if source is None or source.name != shape.Transpose.name:
        return x, contiguous(shape_of(x))
    array, strides = _strided(source.operands[0])
    return array, [strides[d] for d in _permutation(x)]


def _matrices(extents: Sequence[int], strides: Sequence[int], groups: Groups) -> Matrices | None:
    """Return the matrices of these dimensions; None if rows or columns have no common stride."""
    batch, rows, columns = groups
    between_rows = _distance(rows, extents, strides)
    between_columns = _distance(columns, extents, strides)
    if between_rows is None or between_columns is None:
        return None
    of_batch = tuple(strides[d] for d in batch)
    return Matrices(between_rows, between_columns, of_batch, prod(extents))


def _distance(group: Dimensions, extents: Sequence[int], strides: Sequence[int]) -> int | None:
    """Return the stride of dimensions taken as one; None if they have no common stride."""
    steps = [strides[d] for d in group]
    found = axes([extents[d] for d in group], [steps])
    if len(found) > 1:
        return None
    return steps[found[0].last] if found else 1
