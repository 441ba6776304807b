"""Executables that multiply matrices.

Each workgroup calls a function of BLAS for its share of the products.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from irax_compiler.mlir import Block, Module, Operation, Value
from irax_compiler.ops.registers import emit, equal, index
from irax_compiler.ops.size_code import usual
from irax_compiler.passes.kernels.blas.epilogues import Epilogue
from irax_compiler.passes.kernels.blas.layouts import Matrices, Product
from irax_compiler.passes.kernels.blas.library import Cblas, Library
from irax_compiler.passes.kernels.code.loops import for_each, if_else
from irax_compiler.passes.kernels.code.places import moved, times
from irax_compiler.passes.kernels.division import Division
from irax_compiler.passes.kernels.executables import SHARE, add_executable, base, long, share
from irax_compiler.sizes import Size, larger
from irax_compiler.sizes.comparison import bounds

PARTS = 4
"""The number of parts of a worker's share, where smaller parts take no longer."""
FEWEST = SHARE // 4
"""The least multiplications and additions of a workgroup that multiplies matrices with vectors."""
_MULTIPLE = 16
"""The number of rows or columns of a workgroup is a multiple of this."""


@dataclass(frozen=True)
class Shares:
    """The division of products among workgroups: a number of products of the batch for each, and a
    number of rows or columns of these.
    """

    products: Any
    by_rows: bool
    part: Any

    @classmethod
    def of(cls, product: Product, workers: int) -> Shares:
        """Return the shares of a number of workers, or of fewer for a small product."""
        if product.is_sized:
            return cls._of_any(product, workers)
        wanted = max(1, min(workers, product.operations // SHARE))
        parts = max(1, wanted // product.count)
        if product.is_of_vector:  # matrices are read once: as many as stay in the caches
            wanted = max(wanted, min(product.count, product.operations // FEWEST))
        products = -(-product.count // wanted)
        if product.is_of_lines:  # shares are as fast as the whole: a worker that waits has fewer
            parts *= PARTS
        by_rows = product.m >= product.n and not product.is_of_lines
        extent = product.m if by_rows else product.n
        multiple = product.lines.shape.columns if product.is_of_lines else _MULTIPLE
        part = -(-extent // parts)
        return cls(products, by_rows, min(extent, -(-part // multiple) * multiple))

    @classmethod
    def _of_any(cls, product: Product, workers: int) -> Shares:
        """Return the shares of a product of unknown sizes, of which some may be empty."""
        if product.count != 1:
            return cls(-(-product.count // workers), True, product.m)
        by_rows = usual(product.m) >= usual(product.n)
        extent = product.m if by_rows else product.n
        part = -(-extent // (workers * _MULTIPLE)) * _MULTIPLE
        return cls(1, by_rows, part if isinstance(part, Size) else min(extent, part))

    def counts(self, product: Product, workers: int) -> tuple[int, int]:
        """Return the number of workgroups: where it is not known, one for each worker."""
        extent = product.m if self.by_rows else product.n
        first, second = -(-product.count // self.products), -(-extent // self.part)
        return (
            workers if isinstance(first, Size) else first,
            workers if isinstance(second, Size) else second,
        )


def add_product(
    module: Module,
    name: str,
    product: Product,
    workers: int,
    epilogue: Epilogue | None = None,
    sizes: Sequence[str] = (),
) -> Operation:
    """Add the executable `name` to a module, with one function of the same name from the product's
    factors to its result; with an epilogue, from factors and the arrays that it reads to the values
    that it gives. Return the executable. `sizes` are the variables that shapes depend on.
    """
    shares = Shares.of(product, workers)
    counts = shares.counts(product, workers)
    arrays = 3 if epilogue is None else 2 + len(epilogue.bound)
    calls = _Calls(product, shares, epilogue)
    division = None if product.is_sized else calls.division
    return add_executable(module, name, counts, arrays, calls.build, sizes=sizes, division=division)


@dataclass(frozen=True)
class _Calls:
    """The calls of one workgroup."""

    product: Product
    shares: Shares
    epilogue: Epilogue | None

    @property
    def division(self) -> Division:
        """The division of the arrays among the products."""
        product, epilogue = self.product, self.epilogue
        lhs = product.lhs.parts(product.batch, product.m, product.k)
        rhs = product.rhs.parts(product.batch, product.k, product.n)
        out = product.out.parts(product.batch, product.m, product.n)
        read = 0 if epilogue is None else len(epilogue.arrays)
        given = 1 if epilogue is None else len(epilogue.bound) - read
        return Division(product.count, (lhs, rhs, *[1] * read, *[out] * given))

    def build(self, block: Block, bindings: Sequence[Value]) -> None:
        product, shares, epilogue = self.product, self.shares, self.epilogue
        library = Library(product.dtype, block)
        scalars = library.scalar(1), library.scalar(0)
        of_epilogue = {} if epilogue is None else epilogue.memories(bindings[2:])
        home = 2 if epilogue is None else 2 + len(epilogue.arrays)
        layouts = product.lhs, product.rhs, product.out
        is_shared = shares.by_rows, not shares.by_rows, True
        arrays = [
            base(binding, x.size * product.dtype.itemsize)
            for binding, x in zip((*bindings[:2], bindings[home]), layouts, strict=True)
        ]

        start, end = share(product.m if shares.by_rows else product.n, shares.part, 1)
        part = emit("arith.subi", end, start)

        def multiply(number: Value) -> None:
            places = [
                self._place(array, x, number, start if flag else None)
                for array, x, flag in zip(arrays, layouts, is_shared, strict=True)
            ]
            if product.is_of_lines:
                line, *others = places
                first, last, lines = index(0), index(1), product.lines
                lines.build(first, last, lambda _, of: lines.at(line, of), *others, columns=part)
            elif product.is_of_vector:
                self._of_vector(library, [*map(long, places)], long(part), scalars)
            else:
                self._of_matrices(library, [*map(long, places)], long(part), scalars)
            if epilogue is not None:
                self._finish(epilogue, of_epilogue, number, start, part)

        first, last = share(product.count, shares.products, 0)
        for_each(first, last, multiply)

    def _finish(
        self,
        epilogue: Epilogue,
        memories: dict[Value, Value],
        number: Value,
        start: Value,
        part: Value,
    ) -> None:
        """Build the epilogue of the rows or columns from `start` on."""
        product, out = self.product, self.product.out
        is_row_major = out.columns == 1
        first = self._offset(out, number, start)
        is_by_lines = self.shares.by_rows == is_row_major
        lines = part if is_by_lines else index(product.m if is_row_major else product.n)

        def finish(at: Value) -> None:
            place = emit("arith.addi", first, times(at, _leading(out)))
            epilogue.build(memories, place, product.line if is_by_lines else part)

        for_each(index(0), lines, finish)

    def _place(
        self, address: Value, matrices: Matrices, number: Value, start: Value | None
    ) -> Value:
        """Return the address of the workgroup's part of one of the matrices."""
        offset = self._offset(matrices, number, start)
        return moved(address, offset, self.product.dtype.itemsize)

    def _offset(self, matrices: Matrices, number: Value, start: Value | None) -> Value:
        """Return the place of that part's first element."""
        rest, offset = number, index(0)
        for extent, distance in reversed(
            list(zip(self.product.batch, matrices.batch, strict=True))
        ):
            offset = moved(offset, emit("arith.remui", rest, index(extent)), distance)
            rest = emit("arith.divui", rest, index(extent))
        if start is not None:
            distance = matrices.rows if self.shares.by_rows else matrices.columns
            offset = moved(offset, start, distance)
        return offset

    def _of_matrices(
        self, library: Library, places: Sequence[Value], part: Value, scalars: Sequence[Value]
    ) -> None:
        product, (lhs, rhs, out), (alpha, beta) = self.product, places, scalars
        m, n = (part, product.n) if self.shares.by_rows else (product.m, part)
        is_row_major = product.out.columns == 1
        orders = [
            Cblas.AS_IT_IS if (x.columns == 1) == is_row_major else Cblas.TRANSPOSED
            for x in (product.lhs, product.rhs)
        ]
        library.call(
            f"cblas_{library.letter}gemm",
            Cblas.ROW_MAJOR if is_row_major else Cblas.COLUMN_MAJOR,
            *orders,
            *map(_number, (m, n, product.k)),
            *(alpha, lhs, _number(_leading(product.lhs)), rhs, _number(_leading(product.rhs))),
            *(beta, out, _number(_leading(product.out))),
        )

    def _of_vector(
        self, library: Library, places: Sequence[Value], part: Value, scalars: Sequence[Value]
    ) -> None:
        product, (lhs, rhs, out), (alpha, beta) = self.product, places, scalars
        by_rows = self.shares.by_rows
        if product.n == 1:
            layout, matrix, vector = product.lhs, lhs, rhs
            distances = product.rhs.rows, product.out.rows
            length = part if by_rows else product.m
        else:
            layout, matrix, vector = product.rhs.transposed, rhs, lhs
            distances = product.lhs.columns, product.out.columns
            length = product.n if by_rows else part
        m, k, from_vector, to_result = map(_number, (length, product.k, *distances))

        def multiply() -> None:
            library.call(
                f"cblas_{library.letter}gemv",
                Cblas.ROW_MAJOR if layout.columns == 1 else Cblas.COLUMN_MAJOR,
                Cblas.AS_IT_IS,
                *(m, k, alpha, matrix, _number(_leading(layout)), vector, from_vector),
                *(beta, out, to_result),
            )

        def fill() -> None:
            """Multiply matrices of size zero: `gemv` leaves the result as it was for these."""
            library.call(
                f"cblas_{library.letter}gemm",
                *(Cblas.ROW_MAJOR, Cblas.AS_IT_IS, Cblas.AS_IT_IS, m, 1, 0),
                *(alpha, matrix, 1, vector, 1, beta, out, to_result),
            )

        if isinstance(product.k, Size) and bounds(product.k)[0] <= 0:
            if_else(equal(index(product.k), 0), fill, multiply)
        else:
            multiply()


def _leading(matrices: Matrices) -> Any:
    """Return the leading dimension: the stride of rows, or of columns if rows are contiguous."""
    distance = matrices.rows if matrices.columns == 1 else matrices.columns
    return larger(distance, 1)


def _number(x: Any) -> Any:
    """Return a size as BLAS takes it."""
    return long(index(x)) if isinstance(x, Size) else x
