"""Executables that factor matrices and solve equations, by LAPACK.

LAPACK's matrices have contiguous columns and those of programs contiguous rows, so most routines
work on transposed copies. Results are those of the host functions in `irax_runtime.linalg`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, nan, prod
from typing import Any, ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import (
    Block,
    InsertionPoint,
    Module,
    Operation,
    Type,
    Value,
    dtype_of,
    shape_of,
)
from irax_compiler.ops import conversion, elementwise, shape
from irax_compiler.ops.core import full_like
from irax_compiler.ops.fft import real_dtype
from irax_compiler.ops.registers import constant, emit, index
from irax_compiler.passes.blas.library import LETTERS, Cblas, Library, Operand
from irax_compiler.passes.executables import (
    SHARE,
    add_executable,
    base,
    for_each,
    long,
    moved,
    plus,
    share,
    times,
    workgroup,
)
from irax_compiler.passes.host import read_host_call

INT8, INT32, INT64 = (np.dtype(f"int{width}") for width in (8, 32, 64))
BLOCK = 64
"""The columns that LAPACK works on at a time, for which it needs memory, or more."""
_LINE = 64
"""Scratch memory is aligned to this many bytes."""

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Array:
    """The memory of one array."""

    address: Value
    size: int
    """Its bytes."""


@dataclass(frozen=True)
class Lapack:
    """The functions of LAPACK, and the few of BLAS that go with them."""

    library: Library
    one: Value

    @property
    def real(self) -> Lapack:
        """The functions for the dtype of absolute values."""
        return Lapack(self.library.real, self.library.real.scalar(1))

    def call(self, name: str, *operands: Array | Operand, returns: str = "i64") -> Value:
        """Call a function of LAPACK for matrices with contiguous columns, and return its result: a
        status, which is zero for success, if nothing else is said.
        """
        function = f"LAPACKE_{self.library.letter}{name}_work"
        values = map(_operand, operands)
        type_ = mlir.parse_type(returns)
        return self.library.call(function, Cblas.COLUMN_MAJOR, *values, returns=type_)[0]

    def call_blas(self, name: str, *operands: Array | Operand) -> None:
        """Call a function of BLAS."""
        self.library.call(f"cblas_{self.library.letter}{name}", *map(_operand, operands))

    def copy(self, x: Array, to: Array) -> None:
        count = to.size // self.library.dtype.itemsize
        self.call_blas("copy", count, x, 1, to, 1)

    def transpose(self, x: Array, rows: int, columns: int, to: Array) -> None:
        """Transpose a matrix with contiguous rows."""
        order = Cblas.ROW_MAJOR, Cblas.TRANSPOSED
        self.call_blas("omatcopy", *order, rows, columns, self.one, x, columns, to, rows)

    def fill(self, x: Array, number: float) -> None:
        """Fill an array of floating-point numbers."""
        count = self._reals(x)
        self.real.call("laset", "A", count, 1, number, number, x, count)

    def fill_if_failed(self, status: Value, arrays: Sequence[Array]) -> None:
        """Fill arrays with nan if a status is not zero."""

        def fill() -> None:
            for x in arrays:
                self.fill(x, nan)

        self.if_failed(status, fill)

    def if_failed(self, status: Value, body: Callable[[], None]) -> None:
        """Do something if a status is not zero."""
        failed = emit("arith.cmpi", status, _status(0), to=_boolean(), predicate=_predicate(1))
        _if(failed, body)

    def fill_triangle(self, x: Array, n: int, upper: bool, number: float) -> None:
        """Fill a triangle of a matrix with contiguous columns, and its diagonal."""
        step = n if upper else n + 1  # from the first element of one column to that of the next
        size, reals = self.library.dtype.itemsize, self._reals(x) // (n * n)

        def fill(j: Value) -> None:
            start = emit("arith.addi", x.address, long(times(j, step * size)))
            count = long(times(plus(j, 1) if upper else plus(times(j, -1), n), reals))
            self.real.call("laset", "A", count, 1, number, number, start, count)

        for_each(index(0), index(n), fill)

    def if_finite(self, x: Array, body: Callable[[], Value]) -> Value:
        """Do something if all numbers of an array are finite. Return its status, or one of failure
        if they are not.
        """
        count, real = self._reals(x), self.library.real
        largest = self.real.call("lange", "M", count, 1, x, count, x, returns=str(real.element))
        bound = constant(np.asarray(inf, real.dtype))
        is_finite = emit("arith.cmpf", largest, bound, to=_boolean(), predicate=_predicate(4))
        return _if(is_finite, body, lambda: _status(1))[0]

    def _reals(self, x: Array) -> int:
        """The number of real numbers in an array of these or of complex ones."""
        return x.size // self.library.real.dtype.itemsize


def _operand(x: Array | Operand) -> Operand:
    return x.address if isinstance(x, Array) else x


def _boolean() -> Type:
    return mlir.element_type(np.dtype(np.bool_))


def _predicate(number: int) -> mlir.Attribute:
    return mlir.parse_attribute(f"{number} : i64")


def _status(number: int) -> Value:
    return constant(np.asarray(number, np.int64))


def _if(condition: Value, *branches: Callable[[], Value | None]) -> Sequence[Value]:
    types = [mlir.parse_type("i64")] if len(branches) == 2 else []
    choice = mlir.emit("scf.if", [condition], {}, types, regions=2)
    for region, branch in zip(choice.regions, branches, strict=False):
        with InsertionPoint(Block.create_at_start(region, [])):
            result = branch()
            mlir.emit("scf.yield", [] if result is None else [result], {}, [])
    return choice.results


# ---- routines ------------------------------------------------------------------------------------


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


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Solve(Routine):
    """Solutions of equations; for singular matrices, the results of division by zero."""

    name = "solve"

    @property
    def results(self) -> Sequence[tuple[Shape, np.dtype]]:
        return [(self.shapes[1], self.dtype)]

    @property
    def scratch(self) -> Sequence[int]:
        n, columns = self.shapes[1]
        return [n * n * self.size, n * columns * self.size, n * INT64.itemsize]

    def build(self, lapack: Lapack, arrays: Sequence[Array]) -> None:
        x, b, out, a, right, pivots = arrays
        n, columns = self.shapes[1]
        lapack.transpose(x, n, n, a)
        lapack.transpose(b, n, columns, right)
        lapack.call("getrf", n, n, a, n, pivots)
        lapack.call("getrs", "N", n, columns, a, n, pivots, right, n)
        lapack.transpose(right, columns, n, out)


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
        return (10 if self.vectors else 2) * super().operations

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
        return (20 if self.vectors else 4) * super().operations

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


# ---- executables ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Batch:
    """A routine for a batch of matrices, and the number of workers that share them."""

    routine: Routine
    extents: Shape
    """The dimensions of the batch."""
    workers: int

    @property
    def count(self) -> int:
        """The number of matrices."""
        return prod(self.extents)

    @property
    def operations(self) -> int:
        """The approximate number of multiplications and additions."""
        return self.count * self.routine.operations

    @property
    def _share(self) -> int:
        """The number of matrices of a workgroup."""
        wanted = min(self.workers, self.operations // SHARE)
        return -(-self.count // max(1, wanted))

    @property
    def groups(self) -> int:
        """The number of workgroups."""
        return -(-self.count // self._share)

    @property
    def types(self) -> list[Type]:
        """The types of the dispatch's results: those of the routine, and scratch memory."""
        results = [
            mlir.tensor_type((*self.extents, *shape), dtype)
            for shape, dtype in self.routine.results
        ]
        return [*results, *(mlir.tensor_type((self.groups, size), INT8) for size in self._scratch)]

    @property
    def _scratch(self) -> list[int]:
        """The bytes of the scratch arrays of a workgroup."""
        return [-(-size // _LINE) * _LINE for size in self.routine.scratch]

    def add_executable(self, module: Module, name: str, operands: Sequence[Value]) -> Operation:
        """Add the executable `name` to a module, with one function of the same name. Return it."""
        given = [_bytes(x.type) // self.count for x in operands]
        results = [prod(shape) * dtype.itemsize for shape, dtype in self.routine.results]
        sizes = [*given, *results]

        of_all = [*map(_bytes, (x.type for x in operands)), *map(_bytes, self.types)]

        def build(block: Block, bindings: list[Value]) -> None:
            library = Library(self.routine.dtype, block)
            bases = [base(binding, size) for binding, size in zip(bindings, of_all, strict=True)]
            lapack = Lapack(library, library.scalar(1))
            scratch = _arrays(bases[len(sizes) :], workgroup(0), self._scratch)

            def work(number: Value) -> None:
                arrays = _arrays(bases[: len(sizes)], number, sizes)
                self.routine.build(lapack, [*arrays, *scratch])

            for_each(*share(self.count, self._share, 0), work)

        return add_executable(module, name, (self.groups, 1), len(of_all), build)


def batch_of(operation: Operation, workers: int = 1) -> Batch | None:
    """Return the routine that computes what a call of a host function does, for the batch of its
    operands; None if there is none.
    """
    operands = list(operation.operands)
    name, parameters = read_host_call(operation)
    if name not in ROUTINES or any(0 in shape_of(x) for x in operands):
        return None
    dtype = dtype_of(operands[0])
    if dtype.name not in LETTERS:
        return None
    *extents, _, _ = shape_of(operands[0])
    shapes = tuple(shape_of(x)[-2:] for x in operands)
    return Batch(ROUTINES[name](dtype, shapes, **parameters), tuple(extents), workers)


def _bytes(type_: Any) -> int:
    return prod(type_.shape) * mlir.dtype_of_type(type_).itemsize


def _arrays(bases: Sequence[Value], number: Value, sizes: Sequence[int]) -> list[Array]:
    """The arrays of a number in lists of arrays of these sizes."""
    return [
        Array(long(moved(address, number, size)), size)
        for address, size in zip(bases, sizes, strict=True)
    ]
