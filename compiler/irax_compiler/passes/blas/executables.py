"""HAL executables that call BLAS.

Each workgroup calls a function of the library for its share of the products. The function is a
static import: the program is linked against the library, which is loaded into the process before
the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Attribute, InsertionPoint, Module, Type, Value
from irax_compiler.ops.registers import emit, index
from irax_compiler.passes.blas.layouts import Matrices, Product

LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
"""BLAS's letters for the dtypes it supports."""

SHARE = 1_000_000
"""The least multiplications and additions for which a workgroup pays."""
_MULTIPLE = 16
"""The number of rows or columns of a workgroup is a multiple of this."""

_ROW_MAJOR, _COLUMN_MAJOR = 101, 102
_AS_IT_IS, _TRANSPOSED = 111, 112


@dataclass(frozen=True)
class Shares:
    """The division of products among workgroups: a number of products of the batch for each, and a
    number of rows or columns of these.
    """

    products: int
    by_rows: bool
    part: int

    @classmethod
    def of(cls, product: Product, workers: int) -> Shares:
        """Return the shares of a number of workers, or of fewer for a small product."""
        wanted = max(1, min(workers, product.operations // SHARE))
        products = -(-product.count // wanted)
        parts = max(1, wanted // product.count)
        by_rows = product.m >= product.n
        extent = max(product.m, product.n)
        part = -(-extent // parts)
        return cls(products, by_rows, min(extent, -(-part // _MULTIPLE) * _MULTIPLE))


def add_executable(module: Module, name: str, product: Product, workers: int) -> None:
    """Add the executable `name` to a module, with one function of the same name from the product's
    factors to its result.
    """
    shares = Shares.of(product, workers)
    extent = product.m if shares.by_rows else product.n
    counts = -(-product.count // shares.products), -(-extent // shares.part)
    named = {"sym_name": mlir.string(name)}
    with InsertionPoint.at_block_begin(module.body):
        private = named | {"sym_visibility": mlir.string("private")}
        outer = mlir.emit("stream.executable", [], private, [], regions=1)
    with InsertionPoint(mlir.Block.create_at_start(outer.regions[0], [])):
        public = {"function_ref": mlir.symbol(name), "sym_visibility": mlir.string("public")}
        export = mlir.emit("stream.executable.export", [], named | public, [], regions=1)
        inner = mlir.emit("builtin.module", [], {}, [], regions=1)
        mlir.emit("stream.executable.end", [], {}, [])
    with InsertionPoint(mlir.Block.create_at_start(export.regions[0], [])):
        mlir.emit("stream.return", [*map(index, counts), index(1)], {}, [])
    call = _Call(product, shares)
    with InsertionPoint(mlir.Block.create_at_start(inner.regions[0], [])):
        call.declare()
        binding = mlir.parse_type("!stream.binding")
        function = mlir.emit("func.func", [], named | _typed([binding] * 3), [], regions=1)
    block = mlir.Block.create_at_start(function.regions[0], [binding] * 3)
    with InsertionPoint(block):
        call.build(list(block.arguments))
        mlir.emit("func.return", [], {}, [])


def _typed(inputs: Sequence[Type]) -> dict[str, Attribute]:
    return {"function_type": mlir.type_attribute(mlir.function_type(inputs, []))}


@dataclass(frozen=True)
class _Call:
    """The calls of one workgroup."""

    product: Product
    shares: Shares

    @property
    def _function(self) -> str:
        kind = "gemv" if self.product.is_of_vector else "gemm"
        return f"scipy_cblas_{LETTERS[self.product.dtype.name]}{kind}64_"

    def declare(self) -> None:
        i32, i64 = map(mlir.parse_type, ("i32", "i64"))
        scalar = self._scalar_type()
        if self.product.is_of_vector:
            types = [i32] * 2 + [i64] * 2 + [scalar] + [i64] * 4 + [scalar] + [i64] * 2
        else:
            types = [i32] * 3 + [i64] * 3 + [scalar] + [i64] * 4 + [scalar] + [i64] * 2
        flag = mlir.parse_attribute("true")
        attributes = {
            "sym_name": mlir.string(self._function),
            "sym_visibility": mlir.string("private"),
            "hal.import.static": mlir.parse_attribute("unit"),
            "llvm.bareptr": flag,
        }
        mlir.emit("func.func", [], attributes | _typed(types), [], regions=1)

    def _scalar_type(self) -> Type:
        dtype = self.product.dtype
        return mlir.parse_type("i64") if dtype.kind == "c" else mlir.element_type(dtype)

    def build(self, bindings: Sequence[Value]) -> None:
        """The body of the function."""
        product, shares = self.product, self.shares
        layouts = product.lhs, product.rhs, product.out
        bases = [self._base(b, x.size) for b, x in zip(bindings, layouts, strict=True)]
        scalars = self._scalar(1), self._scalar(0)
        first = _times(_workgroup(0), shares.products)
        last = emit("arith.minsi", _plus(first, shares.products), index(product.count))
        start = _times(_workgroup(1), shares.part)
        extent = product.m if shares.by_rows else product.n
        left = emit("arith.subi", index(extent), start)
        part = emit("arith.minsi", left, index(shares.part))
        loop = mlir.emit("scf.for", [first, last, index(1)], {}, [], regions=1)
        block = mlir.Block.create_at_start(loop.regions[0], [index(0).type])
        with InsertionPoint(block):
            number = block.arguments[0]
            shared = (shares.by_rows, not shares.by_rows, True)
            places = [
                self._place(base, x, number, start if is_shared else None)
                for base, x, is_shared in zip(bases, layouts, shared, strict=True)
            ]
            self._call(places, part, scalars)
            mlir.emit("scf.yield", [], {}, [])

    def _base(self, binding: Value, elements: int) -> Value:
        """The address of an array."""
        size = elements * self.product.dtype.itemsize
        # A type with an offset that is known would lose that of the binding.
        buffer = mlir.parse_type(f"memref<{size}xi8, strided<[1], offset: ?>>")
        view = emit("stream.binding.subspan", binding, index(0), to=buffer)
        byte = mlir.parse_type("memref<i8>")
        place = index(0).type
        types = [byte, place, place, place]
        memory, offset, *_ = mlir.emit("memref.extract_strided_metadata", [view], {}, types).results
        return emit("arith.addi", _address(memory), offset)

    def _scalar(self, number: int) -> Value:
        """Return a number as BLAS takes it: complex ones by address."""
        dtype = self.product.dtype
        if dtype.kind != "c":
            return _constant(f"{number}.0 : {mlir.element_type(dtype)}")
        part = mlir.element_type(np.dtype(f"f{dtype.itemsize // 2}"))
        buffer = mlir.parse_type(f"memref<2x{part}>")
        attributes = {"operandSegmentSizes": mlir.parse_attribute("array<i32: 0, 0>")}
        memory = mlir.emit("memref.alloca", [], attributes, [buffer]).results[0]
        for i, x in enumerate((number, 0)):
            mlir.emit("memref.store", [_constant(f"{x}.0 : {part}"), memory, index(i)], {}, [])
        return _long(_address(memory))

    def _place(self, base: Value, matrices: Matrices, number: Value, start: Value | None) -> Value:
        """Return the address of the workgroup's part of one of the matrices."""
        size = self.product.dtype.itemsize
        rest = number
        for extent, distance in reversed(
            list(zip(self.product.batch, matrices.batch, strict=True))
        ):
            place = emit("arith.remui", rest, index(extent))
            rest = emit("arith.divui", rest, index(extent))
            base = emit("arith.addi", base, _times(place, distance * size))
        if start is not None:
            distance = matrices.rows if self.shares.by_rows else matrices.columns
            base = emit("arith.addi", base, _times(start, distance * size))
        return _long(base)

    def _call(self, places: Sequence[Value], part: Value, scalars: tuple[Value, Value]) -> None:
        product, by_rows = self.product, self.shares.by_rows
        long = _long(part)
        m = long if by_rows else _i64(product.m)
        n = _i64(product.n) if by_rows else long
        operands = (
            self._vector_operands(places, m if product.n == 1 else n, scalars)
            if product.is_of_vector
            else self._matrix_operands(places, (m, n), scalars)
        )
        mlir.emit("func.call", operands, {"callee": mlir.symbol(self._function)}, [])

    def _matrix_operands(
        self, places: Sequence[Value], extents: tuple[Value, Value], scalars: tuple[Value, Value]
    ) -> list[Value]:
        product, (lhs, rhs, out) = self.product, places
        one, zero = scalars
        is_row_major = product.out.columns == 1
        orders = [
            _AS_IT_IS if (x.columns == 1) == is_row_major else _TRANSPOSED
            for x in (product.lhs, product.rhs)
        ]
        order = _ROW_MAJOR if is_row_major else _COLUMN_MAJOR
        return [
            *map(_i32, (order, *orders)),
            *(*extents, _i64(product.k)),
            *(one, lhs, _i64(_leading(product.lhs)), rhs, _i64(_leading(product.rhs))),
            *(zero, out, _i64(_leading(product.out))),
        ]

    def _vector_operands(
        self, places: Sequence[Value], length: Value, scalars: tuple[Value, Value]
    ) -> list[Value]:
        product, (lhs, rhs, out) = self.product, places
        one, zero = scalars
        if product.n == 1:
            layout, matrix, vector = product.lhs, lhs, rhs
            distances = product.rhs.rows, product.out.rows
        else:
            layout, matrix, vector = product.rhs.transposed, rhs, lhs
            distances = product.lhs.columns, product.out.columns
        order = _ROW_MAJOR if layout.columns == 1 else _COLUMN_MAJOR
        return [
            *map(_i32, (order, _AS_IT_IS)),
            *(length, _i64(product.k)),
            *(one, matrix, _i64(_leading(layout)), vector, _i64(distances[0])),
            *(zero, out, _i64(distances[1])),
        ]


def _leading(matrices: Matrices) -> int:
    """Return the leading dimension: the stride of rows, or of columns if rows are contiguous."""
    return max(matrices.rows, matrices.columns)


def _workgroup(dimension: int) -> Value:
    attribute = {"dimension": mlir.parse_attribute(f"{dimension} : index")}
    return mlir.emit("stream.dispatch.workgroup.id", [], attribute, [index(0).type]).results[0]


def _address(memory: Value) -> Value:
    return emit("memref.extract_aligned_pointer_as_index", memory, to=mlir.parse_type("index"))


def _times(x: Value, by: int) -> Value:
    return emit("arith.muli", x, index(by))


def _plus(x: Value, y: int) -> Value:
    return emit("arith.addi", x, index(y))


def _long(x: Value) -> Value:
    return emit("arith.index_cast", x, to=mlir.parse_type("i64"))


def _i32(x: int) -> Value:
    return _constant(f"{x} : i32")


def _i64(x: int) -> Value:
    return _constant(f"{x} : i64")


def _constant(text: str) -> Value:
    attribute = mlir.parse_attribute(text)
    type_ = mlir.parse_type(text.rpartition(": ")[2])
    return mlir.emit("arith.constant", [], {"value": attribute}, [type_]).results[0]
