"""Routines that factor matrices and solve equations, by LAPACK.

LAPACK's matrices have contiguous columns and those of programs contiguous rows, so most routines
work on transposes, in the memory of results where these have the size. Results are those of the
host functions in `irax_runtime.linalg`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan, prod
from typing import ClassVar

import numpy as np

from irax_compiler.mlir import Value, shape_of
from irax_compiler.ops import conversion, elementwise, shape
from irax_compiler.ops.core import full_like
from irax_compiler.ops.fft import real_dtype
from irax_compiler.ops.registers import emit
from irax_compiler.passes.kernels.blas.lapack import Array, Lapack
from irax_compiler.passes.kernels.blas.library import Cblas
from irax_compiler.passes.kernels.blas.squares import block_of, transpose

INT32, INT64 = (np.dtype(f"int{width}") for width in (32, 64))
BLOCK = 64
"""The columns that LAPACK works on at a time, for which it needs memory, or more."""

COLUMN = 600
"""A column of a small matrix whose eigenvalues or singular values are sought takes as long as so
many operations besides those that are counted."""

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Routine:
    """A routine for one matrix of a batch, with the parameters of the host function."""

    dtype: np.dtype
    shapes: tuple[Shape, ...]
    """The shapes of the operands, without the dimensions of the batch."""

    name: ClassVar[str]

    @property
    def results(self) -> Sequence[tuple[Shape, np.dtype]]:
        """Return the shapes and dtypes of what it computes."""
        raise NotImplementedError

    @property
    def scratch(self) -> Sequence[int]:
        """Return the bytes of the arrays that it needs besides."""
        return []

    @property
    def in_place(self) -> Mapping[int, int]:
        """Return which results may be in the memory of which operands, by their numbers."""
        return {}

    @property
    def scratch_in_place(self) -> Mapping[int, int]:
        """Return which scratch arrays may be there. They have the operand's size."""
        return {}

    @property
    def operations(self) -> int:
        """Return the approximate number of multiplications and additions."""
        return prod(self.shapes[0]) * max(self.shapes[-1])

    def operands(self, given: Sequence[Value]) -> Sequence[Value]:
        """Build the arrays that it reads."""
        return given

    def build(self, lapack: Lapack, arrays: Sequence[Array]) -> None:
        """Build the calls; the arrays are operands, results and scratch memory."""
        raise NotImplementedError

    def finish(self, results: Sequence[Value]) -> Sequence[Value]:
        """Build the results of the host function."""
        return results

    @property
    def size(self) -> int:
        """The bytes of a number."""
        return self.dtype.itemsize

    @property
    def real(self) -> np.dtype:
        """The dtype of absolute values: that of the real parts of complex numbers."""
        return real_dtype(self.dtype)

    @property
    def is_complex(self) -> bool:
        return self.dtype.kind == "c"


@dataclass(frozen=True)
class Cholesky(Routine):
    """The triangle of Cholesky's factorization, of nan where there is none."""

    lower: int
    name = "cholesky"

    @property
    def results(self) -> Sequence[tuple[Shape, np.dtype]]:
        return [(self.shapes[0], self.dtype)]

    @property
    def in_place(self) -> Mapping[int, int]:
        return {0: 0}

    def build(self, lapack: Lapack, arrays: Sequence[Array]) -> None:
        """Factor the transpose, which is the conjugate: its factor is the result's transpose."""
        x, out = arrays
        n, upper = self.shapes[0][0], bool(self.lower)
        lapack.copy(x, out)
        status = lapack.call("potrf", "U" if upper else "L", n, out, n)
        lapack.fill_triangle(out, n, not upper, 0.0, diagonal=False)
        lapack.if_failed(status, lambda: lapack.fill_triangle(out, n, upper, nan))


@dataclass(frozen=True)
class TriangularSolve(Routine):
    """Solutions of equations with triangular matrices."""

    left_side: int
    lower: int
    unit_diagonal: int
    transpose_a: int
    name = "triangular_solve"

    @property
    def results(self) -> Sequence[tuple[Shape, np.dtype]]:
        return [(self.shapes[1], self.dtype)]

    @property
    def operations(self) -> int:
        return prod(self.shapes[1]) * self.shapes[0][0]

    @property
    def in_place(self) -> Mapping[int, int]:
        return {0: 1}

    def build(self, lapack: Lapack, arrays: Sequence[Array]) -> None:
        a, b, out = arrays
        (n, _), (rows, columns) = self.shapes
        lapack.copy(b, out)
        lapack.call_blas(
            "trsm",
            Cblas.ROW_MAJOR,
            Cblas.LEFT if self.left_side else Cblas.RIGHT,
            Cblas.LOWER if self.lower else Cblas.UPPER,
            (Cblas.AS_IT_IS, Cblas.TRANSPOSED, Cblas.ADJOINT)[self.transpose_a],
            Cblas.UNIT if self.unit_diagonal else Cblas.NON_UNIT,
            *(rows, columns, lapack.one, a, n, out, columns),
        )


class Lu(Routine):
    """L and U in one matrix, the rows that were exchanged with each, and the rows' order."""

    name = "lu"

    @property
    def results(self) -> Sequence[tuple[Shape, np.dtype]]:
        m, n = self.shapes[0]
        return [((m, n), self.dtype), ((min(m, n),), INT64), ((m,), self.real)]

    @property
    def scratch(self) -> Sequence[int]:
        m, n = self.shapes[0]
        return block_of(n, self.size) if m == n else [m * n * self.size]

    @property
    def in_place(self) -> Mapping[int, int]:
        return {0: 0}

    def operands(self, given: Sequence[Value]) -> Sequence[Value]:
        """Add the numbers of rows, as real numbers, which LAPACK can exchange."""
        (x,) = given
        extents = shape_of(x)[:-1]
        return [x, shape.Iota(extents, self.real, len(extents) - 1)()]

    def build(self, lapack: Lapack, arrays: Sequence[Array]) -> None:
        x, numbers, factors, pivots, order, *memory = arrays
        m, n = self.shapes[0]
        if m == n:
            transpose(lapack, x, n, factors, *memory)
            lapack.call("getrf", n, n, factors, n, pivots)
            transpose(lapack, factors, n, factors, *memory)
        else:
            (a,) = memory
            lapack.transpose(x, m, n, a)
            lapack.call("getrf", m, n, a, m, pivots)
            lapack.transpose(a, n, m, factors)
        lapack.real.copy(numbers, order)
        lapack.real.call("laswp", 1, order, m, 1, min(m, n), pivots, 1)

    def finish(self, results: Sequence[Value]) -> Sequence[Value]:
        factors, pivots, order = results
        pivots = elementwise.subtract(pivots, full_like(pivots, 1))
        return [factors, *(conversion.convert(x, INT32) for x in (pivots, order))]


class Solve(Routine):
    """Solutions of equations; for singular matrices, the results of division by zero."""

    name = "solve"

    @property
    def results(self) -> Sequence[tuple[Shape, np.dtype]]:
        return [(self.shapes[1], self.dtype)]

    @property
    def scratch(self) -> Sequence[int]:
        n = self.shapes[1][0]
        return [n * n * self.size, n * INT64.itemsize, *block_of(n, self.size)]

    @property
    def in_place(self) -> Mapping[int, int]:
        return {0: 1}

    @property
    def scratch_in_place(self) -> Mapping[int, int]:
        return {0: 0}

    def build(self, lapack: Lapack, arrays: Sequence[Array]) -> None:
        """Solve in the memory of the result, whose transpose has contiguous columns: that is
        multiplied from the right.
        """
        x, b, out, a, pivots, *block = arrays
        n, columns = self.shapes[1]
        transpose(lapack, x, n, a, *block)
        lapack.copy(b, out)
        lapack.call("getrf", n, n, a, n, pivots)
        if columns == 1:
            lapack.call("getrs", "N", n, 1, a, n, pivots, out, n)
            return
        lapack.exchange_rows(out, n, columns, pivots)
        for triangle, diagonal in (Cblas.LOWER, Cblas.UNIT), (Cblas.UPPER, Cblas.NON_UNIT):
            lapack.call_blas(
                "trsm",
                *(Cblas.COLUMN_MAJOR, Cblas.RIGHT, triangle, Cblas.TRANSPOSED, diagonal),
                *(columns, n, lapack.one, a, n, out, columns),
            )


@dataclass(frozen=True)
class Qr(Routine):
    """Q, with as many columns as the matrix or square, and R."""

    full: int
    name = "qr"

    @property
    def _columns(self) -> int:
        """The number of columns of Q."""
        return self.shapes[0][0] if self.full else min(self.shapes[0])

    @property
    def results(self) -> Sequence[tuple[Shape, np.dtype]]:
        m, n = self.shapes[0]
        return [((m, self._columns), self.dtype), ((self._columns, n), self.dtype)]

    @property
    def _is_square(self) -> bool:
        """True if Q is, and takes the matrix, too."""
        m, n = self.shapes[0]
        return n <= m == self._columns

    @property
    def scratch(self) -> Sequence[int]:
        m, n = self.shapes[0]
        wide = max(n, self._columns)
        counts = min(m, n), BLOCK * wide
        copy = block_of(m, self.size) if self._is_square else [m * wide * self.size]
        return [*(count * self.size for count in counts), *copy]

    @property
    def operations(self) -> int:
        return 4 * super().operations

    def build(self, lapack: Lapack, arrays: Sequence[Array]) -> None:
        x, q, r, scales, work, *copy = arrays
        (m, n), columns = self.shapes[0], self._columns
        memory, block = (work, work.size // self.size), copy[0] if copy else None
        a = q if self._is_square else copy[0]
        lapack.transpose(x, m, n, a)
        lapack.call("geqrf", m, n, a, m, scales, *memory)
        lapack.transpose(a, n, columns, r, stride=m)
        lapack.fill_below_diagonal(r, columns, n, 0.0)
        generate = "ungqr" if self.is_complex else "orgqr"
        lapack.call(generate, m, columns, min(m, n), a, m, scales, *memory)
        if self._is_square:
            transpose(lapack, q, m, q, block)
        else:
            lapack.transpose(a, columns, m, q)


@dataclass(frozen=True)
class Eigh(Routine):
    """Eigenvectors, if wanted, and eigenvalues in ascending order, of the lower triangle; nan for
    matrices that are not finite.
    """

    vectors: int
    name = "eigh"

    @property
    def results(self) -> Sequence[tuple[Shape, np.dtype]]:
        n = self.shapes[0][0]
        values = (n,), self.real
        return [(self.shapes[0], self.dtype), values] if self.vectors else [values]

    @property
    def scratch(self) -> Sequence[int]:
        """The matrix; the diagonal beside the eigenvalues; the reflections; for the calls, numbers,
        real numbers beside complex ones, and integers.
        """
        n = self.shapes[0][0]
        of_blocks = BLOCK * (n + BLOCK + 1)
        of_solver, integers = (1 + 4 * n + n * n, 3 + 5 * n) if self.vectors else (1, 1)
        if self.is_complex:
            counts = of_blocks, of_solver + n * n, integers
        else:
            counts = max(of_blocks, of_solver), integers
        work = (count * size for count, size in zip(counts, self._items, strict=True))
        always = n * n * self.size, n * self.real.itemsize, n * self.size
        return [*always, *work, *block_of(n, self.size)]

    @property
    def _items(self) -> list[int]:
        """The bytes of what is in the arrays for the calls."""
        return [self.size, *([self.real.itemsize] if self.is_complex else []), INT64.itemsize]

    @property
    def scratch_in_place(self) -> Mapping[int, int]:
        return {0: 0}

    @property
    def operations(self) -> int:
        columns = COLUMN * self.shapes[0][0]
        return (10 if self.vectors else 2) * (super().operations + columns)

    def build(self, lapack: Lapack, arrays: Sequence[Array]) -> None:
        """Make the matrix tridiagonal, and find the eigenvalues of that. What a driver of LAPACK's
        does in one call takes a work array of twice the matrix.
        """
        count = len(self.results)
        x, *results = arrays[: 1 + count]
        a, beside, reflections, *work = arrays[1 + count :]
        n, values = self.shapes[0][0], results[-1]
        block = work.pop() if block_of(n, self.size) else None
        pairs = zip(work, self._items, strict=True)
        memory = [y for array, item in pairs for y in (array, array.size // item)]
        reduce, multiply = ("hetrd", "unmtr") if self.is_complex else ("sytrd", "ormtr")

        job, v = ("I", results[0]) if self.vectors else ("N", a)  # then LAPACK does not read it

        def decompose(largest: Value) -> Value:
            transpose(lapack, x, n, a, block)
            factor = lapack.factor(largest)
            lapack.scale(a, factor)
            lapack.call(reduce, "L", n, a, n, values, beside, reflections, *memory[:2])
            status = lapack.call("stedc", job, n, values, beside, v, n, *memory)
            if self.vectors:
                matrix = a, n, reflections, v, n
                lapack.call(multiply, "L", "L", "N", n, n, *matrix, *memory[:2])
                transpose(lapack, v, n, v, block)
            lapack.real.scale(values, emit("arith.divf", lapack.real.one, factor))
            return status

        lapack.fill_if_failed(lapack.if_finite(x, decompose), results)


@dataclass(frozen=True)
class Svd(Routine):
    """U, the singular values, and the adjoint of V, or the singular values; nan for matrices that
    are not finite.
    """

    full: int
    vectors: int
    name = "svd"

    @property
    def _sides(self) -> tuple[Shape, Shape]:
        """The shapes of U and of the adjoint of V."""
        m, n = self.shapes[0]
        return ((m, m), (n, n)) if self.full else ((m, min(m, n)), (min(m, n), n))

    @property
    def results(self) -> Sequence[tuple[Shape, np.dtype]]:
        values = (min(self.shapes[0]),), self.real
        if not self.vectors:
            return [values]
        u, v = self._sides
        return [(u, self.dtype), values, (v, self.dtype)]

    @property
    def scratch(self) -> Sequence[int]:
        short, long = sorted(self.shapes[0])
        of_blocks = short * short + 3 * short + BLOCK * (short + long)
        counts = [prod(self.shapes[0]), max(4 * short * short + 7 * short, of_blocks)]
        of_reals = [7 * short * short + 7 * short + 2 * short * long] if self.is_complex else []
        return [
            *(count * self.size for count in counts),
            *(count * self.real.itemsize for count in of_reals),
            8 * short * INT64.itemsize,
            *(prod(side) * self.size for side in self._copied),
            *block_of(max((n for n, _ in self._in_results), default=0), self.size),
        ]

    @property
    def _copied(self) -> list[Shape]:
        """The sides that are transposed to the memory of results."""
        return [(m, n) for m, n in self._sides if m != n] if self.vectors else []

    @property
    def _in_results(self) -> list[Shape]:
        """The sides that are transposed there."""
        return [(m, n) for m, n in self._sides if m == n] if self.vectors else []

    @property
    def operations(self) -> int:
        columns = COLUMN * min(self.shapes[0])
        return (20 if self.vectors else 4) * (super().operations + columns)

    def build(self, lapack: Lapack, arrays: Sequence[Array]) -> None:
        m, n = self.shapes[0]
        count = len(self.results)
        x, *results = arrays[: 1 + count]
        a, work, *rest = arrays[1 + count :]
        more, copies = rest[: 1 + self.is_complex], rest[1 + self.is_complex :]
        (_, columns), (rows, _) = self._sides
        job = ("A" if self.full else "S") if self.vectors else "N"
        u, values, v = results if self.vectors else (a, results[0], a)  # LAPACK does not read a
        block = copies[-1] if len(copies) > len(self._copied) else None
        in_u = u if m == columns or not self.vectors else copies[0]
        in_v = v if rows == n or not self.vectors else copies[len(self._copied) - 1]

        def decompose(_: Value) -> Value:
            lapack.transpose(x, m, n, a)
            found = values, in_u, m, in_v, rows
            status = lapack.call(
                "gesdd", job, m, n, a, m, *found, work, work.size // self.size, *more
            )
            if self.vectors:
                move(in_u, columns, m, u)
                move(in_v, n, rows, v)
            return status

        def move(side: Array, high: int, wide: int, to: Array) -> None:
            if high == wide:
                transpose(lapack, side, high, to, block)
            else:
                lapack.transpose(side, high, wide, to)

        lapack.fill_if_failed(lapack.if_finite(x, decompose), results)


ROUTINES: dict[str, type[Routine]] = {
    kind.name: kind for kind in (Cholesky, TriangularSolve, Lu, Solve, Qr, Eigh, Svd)
}
"""The routines by the names of host functions."""
