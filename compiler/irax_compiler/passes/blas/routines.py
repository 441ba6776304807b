"""Routines that factor matrices and solve equations, by LAPACK.

LAPACK's matrices have contiguous columns and those of programs contiguous rows, so most routines
work on transposed copies. Results are those of the host functions in `irax_runtime.linalg`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, prod
from typing import ClassVar

import numpy as np

from irax_compiler.mlir import Value, shape_of
from irax_compiler.ops import conversion, elementwise, shape
from irax_compiler.ops.core import full_like
from irax_compiler.ops.fft import real_dtype
from irax_compiler.passes.blas.lapack import Array, Lapack
from irax_compiler.passes.blas.library import Cblas

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
        """The dtype of absolute values."""
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

    def build(self, lapack: Lapack, arrays: Sequence[Array]) -> None:
        """Factor the transpose, which is the conjugate: its factor is the result's transpose."""
        x, out = arrays
        n = self.shapes[0][0]
        triangle = "U" if self.lower else "L"
        lapack.fill(out, 0.0)
        lapack.call("lacpy", triangle, n, n, x, n, out, n)
        status = lapack.call("potrf", triangle, n, out, n)
        lapack.if_failed(status, lambda: lapack.fill_triangle(out, n, bool(self.lower), nan))


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
        return [prod(self.shapes[0]) * self.size]

    def operands(self, given: Sequence[Value]) -> Sequence[Value]:
        """Add the numbers of rows, as real numbers, which LAPACK can exchange."""
        (x,) = given
        extents = shape_of(x)[:-1]
        return [x, shape.Iota(extents, self.real, len(extents) - 1)()]

    def build(self, lapack: Lapack, arrays: Sequence[Array]) -> None:
        x, numbers, factors, pivots, order, a = arrays
        m, n = self.shapes[0]
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
        return [n * n * self.size, n * INT64.itemsize]

    def build(self, lapack: Lapack, arrays: Sequence[Array]) -> None:
        """Solve in the memory of the result, whose transpose has contiguous columns: that is
        multiplied from the right.
        """
        x, b, out, a, pivots = arrays
        n, columns = self.shapes[1]
        lapack.transpose(x, n, n, a)
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
    def scratch(self) -> Sequence[int]:
        m, n = self.shapes[0]
        wide = max(n, self._columns)
        counts = m * wide, self._columns * n, min(m, n), BLOCK * wide
        return [count * self.size for count in counts]

    @property
    def operations(self) -> int:
        return 4 * super().operations

    def build(self, lapack: Lapack, arrays: Sequence[Array]) -> None:
        x, q, r, a, triangle, scales, work = arrays
        (m, n), columns = self.shapes[0], self._columns
        memory = work, work.size // self.size
        lapack.transpose(x, m, n, a)
        lapack.call("geqrf", m, n, a, m, scales, *memory)
        lapack.fill(triangle, 0.0)
        lapack.call("lacpy", "U", columns, n, a, m, triangle, columns)
        lapack.transpose(triangle, n, columns, r)
        generate = "ungqr" if self.is_complex else "orgqr"
        lapack.call(generate, m, columns, min(m, n), a, m, scales, *memory)
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
        n = self.shapes[0][0]
        real = (1 + 6 * n + 2 * n * n + BLOCK * n) * self.real.itemsize
        both = [(2 * n + n * n + BLOCK * n) * self.size, real] if self.is_complex else [real]
        return [n * n * self.size, *both, (3 + 5 * n) * INT64.itemsize]

    @property
    def operations(self) -> int:
        columns = COLUMN * self.shapes[0][0]
        return (10 if self.vectors else 2) * (super().operations + columns)

    def build(self, lapack: Lapack, arrays: Sequence[Array]) -> None:
        count = len(self.results)
        x, *results = arrays[: 1 + count]
        a, work, *more = arrays[1 + count :]
        n = self.shapes[0][0]
        job = "V" if self.vectors else "N"
        name = "heevd" if self.is_complex else "syevd"
        memory = [work, work.size // self.size]
        for array in more:
            item = INT64 if array is more[-1] else self.real
            memory += [array, array.size // item.itemsize]

        def decompose() -> Value:
            lapack.transpose(x, n, n, a)
            status = lapack.call(name, job, "L", n, a, n, results[-1], *memory)
            if self.vectors:
                lapack.transpose(a, n, n, results[0])
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
        work = 4 * short * short + 7 * short + BLOCK * (short + long)
        sides = map(prod, self._sides if self.vectors else [])
        counts = [prod(self.shapes[0]), *sides, work]
        of_reals = [7 * short * short + 7 * short + 2 * short * long] if self.is_complex else []
        return [
            *(count * self.size for count in counts),
            *(count * self.real.itemsize for count in of_reals),
            8 * short * INT64.itemsize,
        ]

    @property
    def operations(self) -> int:
        columns = COLUMN * min(self.shapes[0])
        return (20 if self.vectors else 4) * (super().operations + columns)

    def build(self, lapack: Lapack, arrays: Sequence[Array]) -> None:
        m, n = self.shapes[0]
        count = len(self.results)
        x, *results = arrays[: 1 + count]
        a, *others = arrays[1 + count :]
        (_, columns), (rows, _) = self._sides
        sides = others[:2] if self.vectors else [a, a]  # of which LAPACK reads neither
        work, *more = others[2:] if self.vectors else others
        job = ("A" if self.full else "S") if self.vectors else "N"
        values = results[1] if self.vectors else results[0]

        def decompose() -> Value:
            lapack.transpose(x, m, n, a)
            u, v = sides
            found = values, u, m, v, rows
            status = lapack.call(
                "gesdd", job, m, n, a, m, *found, work, work.size // self.size, *more
            )
            if self.vectors:
                lapack.transpose(u, columns, m, results[0])
                lapack.transpose(v, n, rows, results[2])
            return status

        lapack.fill_if_failed(lapack.if_finite(x, decompose), results)


ROUTINES: dict[str, type[Routine]] = {
    kind.name: kind for kind in (Cholesky, TriangularSolve, Lu, Solve, Qr, Eigh, Svd)
}
"""The routines by the names of host functions."""
