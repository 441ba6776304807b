"""Calls of LAPACK's functions, and of the few of BLAS that go with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, nan

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Type, Value
from irax_compiler.ops.registers import constant, emit, index
from irax_compiler.passes.kernels.blas.library import Cblas, Library, Operand
from irax_compiler.passes.kernels.code.loops import choose, for_each, if_else
from irax_compiler.passes.kernels.code.places import plus, times
from irax_compiler.passes.kernels.executables import long

INT64 = np.dtype(np.int64)
OEQ, OGT, OLT = 1, 2, 4
"""MLIR's numbers of comparisons of real numbers."""


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
        """Copy an array, unless it is in the same memory."""
        count = to.size // self.library.dtype.itemsize
        self.if_same(x, to, lambda: None, lambda: self.call_blas("copy", count, x, 1, to, 1))

    def transpose(
        self, x: Array, rows: int, columns: int, to: Array, stride: int | None = None
    ) -> None:
        """Transpose a matrix with contiguous rows to other memory. `stride` is what is between its
        rows, if that is more than their length.
        """
        order = Cblas.ROW_MAJOR, Cblas.TRANSPOSED
        places = x, stride or columns, to, rows
        self.call_blas("omatcopy", *order, rows, columns, self.one, *places)

    def exchange_rows(self, x: Array, rows: int, columns: int, pivots: Array) -> None:
        """Exchange each row of a matrix with contiguous rows with the one of a number, which is
        counted from 1.
        """
        size = self.library.dtype.itemsize * columns

        def exchange(row: Value) -> None:
            place = emit("arith.addi", pivots.address, long(times(row, INT64.itemsize)))
            pointer = emit("llvm.inttoptr", place, to=mlir.parse_type("!llvm.ptr"))
            number = emit("llvm.load", pointer, to=mlir.parse_type("i64"))
            before = emit("arith.subi", number, constant(np.asarray(1, INT64)))
            there = emit("arith.muli", before, constant(np.asarray(size, INT64)))
            other = emit("arith.addi", x.address, there)
            own = emit("arith.addi", x.address, long(times(row, size)))
            self.call_blas("swap", columns, own, 1, other, 1)

        for_each(index(0), index(rows), exchange)

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
        if_else(failed, body)

    def fill_triangle(
        self, x: Array, n: int, upper: bool, number: float, diagonal: bool = True
    ) -> None:
        """Fill a triangle of a matrix with contiguous columns, with or without its diagonal."""
        columns = n if diagonal else n - 1
        first = 0 if diagonal else (n if upper else 1)
        step = n if upper else n + 1  # from the first element of one column to that of the next

        def part(j: Value) -> tuple[Value, Value]:
            count = plus(j, 1) if upper else plus(times(j, -1), columns)
            return plus(times(j, step), first), count

        self._fill_parts(x, columns, part, number)

    def fill_below_diagonal(self, x: Array, rows: int, columns: int, number: float) -> None:
        """Fill what is below the diagonal of a matrix with contiguous rows."""

        def part(i: Value) -> tuple[Value, Value]:
            return times(i, columns), emit("arith.minsi", i, index(columns))

        self._fill_parts(x, rows, part, number)

    def _fill_parts(
        self, x: Array, count: int, part: Callable[[Value], tuple[Value, Value]], number: float
    ) -> None:
        """Fill parts of an array; `part` returns the first element of each and how many it has."""
        real = self.library.real.dtype
        reals = self.library.dtype.itemsize // real.itemsize
        value = constant(np.asarray(number, real))

        def fill(i: Value) -> None:
            first, extent = part(i)
            start = emit("arith.addi", x.address, long(times(first, reals * real.itemsize)))

            def store(j: Value) -> None:
                place = emit("arith.addi", start, long(times(j, real.itemsize)))
                pointer = emit("llvm.inttoptr", place, to=mlir.parse_type("!llvm.ptr"))
                mlir.emit("llvm.store", [value, pointer], {}, [])

            for_each(index(0), times(extent, reals), store)

        for_each(index(0), index(count), fill)

    def if_same(
        self, x: Array, other: Array, body: Callable[[], None], otherwise: Callable[[], None]
    ) -> None:
        """Do something if two arrays are in the same memory, and something else if not."""
        places = x.address, other.address
        is_same = emit("arith.cmpi", *places, to=_boolean(), predicate=_predicate(0))
        if_else(is_same, body, otherwise)

    def if_finite(self, x: Array, body: Callable[[Value], Value]) -> Value:
        """Do something with the largest magnitude of an array if all of its numbers are finite.
        Return its status, or one of failure if they are not.
        """
        count, real = self._reals(x), self.library.real
        largest = self.real.call("lange", "M", count, 1, x, count, x, returns=str(real.element))
        is_finite = _compare(largest, _real(inf, real.dtype), OLT)
        branches = (lambda: [body(largest)], lambda: [_status(1)])
        return choose(is_finite, branches, [mlir.parse_type("i64")])[0]

    def scale(self, x: Array, factor: Value) -> None:
        """Multiply an array by a real number."""
        self.real.call_blas("scal", self._reals(x), factor, x, 1)

    def factor(self, largest: Value) -> Value:
        """The number by which to multiply a matrix whose largest magnitude is given, so that the
        squares of its numbers neither overflow nor underflow: 1 if they do not.
        """
        numbers = np.finfo(self.library.real.dtype)
        least = np.sqrt(numbers.tiny / numbers.eps)
        one, low, high = (_real(x, numbers.dtype) for x in (1, least, 1 / least))
        factor = one
        for bound, predicate in ((low, OLT), (high, OGT)):
            is_beyond = _compare(largest, bound, predicate)
            scaled = emit("arith.divf", bound, largest)
            factor = emit("arith.select", is_beyond, scaled, factor, to=one.type)
        is_zero = _compare(largest, _real(0, numbers.dtype), OEQ)
        return emit("arith.select", is_zero, one, factor, to=one.type)

    def _reals(self, x: Array) -> int:
        """The number of real numbers in an array of these or of complex ones."""
        return x.size // self.library.real.dtype.itemsize


def _operand(x: Array | Operand) -> Operand:
    return x.address if isinstance(x, Array) else x


def _boolean() -> Type:
    return mlir.element_type(np.dtype(np.bool_))


def _predicate(number: int) -> mlir.Attribute:
    return mlir.parse_attribute(f"{number} : i64")


def _real(number: float, dtype: np.dtype) -> Value:
    return constant(np.asarray(number, dtype))


def _compare(x: Value, y: Value, predicate: int) -> Value:
    return emit("arith.cmpf", x, y, to=_boolean(), predicate=_predicate(predicate))


def _status(number: int) -> Value:
    return constant(np.asarray(number, np.int64))
