"""Products of matrices of 8-bit integers and of bfloat16, by instructions of AVX-512 for words.

One of VNNI multiplies four unsigned numbers by four signed ones, and adds the products to an
integer of 32 bits; one of BF16 adds two products of bfloat16 to a float32. So an element of a tile
is a word of 32 bits, and tiles are otherwise as those of floats (see `tiles`): a panel of the right
factor is laid out for them, and the left factor is read where it is.

Of integers that are both signed, or both unsigned, the numbers of the panel are moved by 128, and
the sums of the left factor's rows undo that. All is modulo 2**32, as sums are. To the instruction
for bfloat16, subnormal numbers are zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import ml_dtypes
import numpy as np

from irax_compiler import chips, mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import shape
from irax_compiler.ops.core import full
from irax_compiler.ops.dot import DotDimensions
from irax_compiler.ops.registers import constant, emit, equal, index, spread
from irax_compiler.ops.slicing import Pad
from irax_compiler.passes.kernels.blas.tile_shapes import Shape
from irax_compiler.passes.kernels.blas.tiles import PANELS, Lines
from irax_compiler.passes.kernels.blas.vector import Vector, add_pairs, add_products
from irax_compiler.passes.kernels.code.loops import for_each, for_loop, if_else
from irax_compiler.passes.kernels.code.memory import load, store
from irax_compiler.passes.kernels.code.places import least, moved, plus, times
from irax_compiler.passes.kernels.code.shuffles import interleaved_rows, transposed
from irax_compiler.passes.kernels.executables import (
    SHARE,
    add_executable,
    base,
    dispatch,
    share,
    size_of_share,
)
from irax_compiler.passes.kernels.loops.memory import seen_as
from irax_compiler.passes.kernels.moves.kernels import name_of
from irax_compiler.processors import processors

DTYPES = np.dtype(np.int8), np.dtype(np.uint8)
"""The dtypes of integers."""
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
INT32, FLOAT32 = np.dtype(np.int32), np.dtype(np.float32)
WORD = 4
"""The bytes of a word."""
LARGE, LEAST = 1 << 18, 16
"""The fewest products of numbers, and extents of a matrix, for which the code pays."""
_WORDS = Vector(INT32, 64)
_REGISTERS = 32


def product(dims: DotDimensions, x: Value, y: Value, extents: Sequence[int]) -> Value | None:
    """Build a dispatch that multiplies matrices of narrow numbers, and return its result, of int32
    or float32 and of a shape; None where it does not pay.
    """
    dtypes = {dtype_of(x), dtype_of(y)}
    has_blocks = chips.multiplies_blocks()
    is_float = dtypes == {BFLOAT16} and (has_blocks or chips.multiplies_bfloat16())
    if not is_float and not (dtypes <= {*DTYPES} and (has_blocks or chips.multiplies_bytes())):
        return None
    if mlir.is_sized(x.type) or mlir.is_sized(y.type):
        return None
    x_free, y_free = dims.lhs_free(len(shape_of(x))), dims.rhs_free(len(shape_of(y)))
    batch = prod(shape_of(x)[d] for d in dims.lhs_batching)
    k = prod(shape_of(x)[d] for d in dims.lhs_contracting)
    m, n = prod(shape_of(x)[d] for d in x_free), prod(shape_of(y)[d] for d in y_free)
    if min(m, n, k) < LEAST or batch * m * n * k < LARGE:
        return None
    # The right factor is read by rows or by columns, whichever are contiguous.
    has_rows = not dims.rhs_contracting[-1] > y_free[-1]
    groups = (dims.rhs_contracting, y_free) if has_rows else (y_free, dims.rhs_contracting)
    lhs = _in_words(_matrices(x, dims.lhs_batching, x_free, dims.lhs_contracting), 2)
    rhs = _in_words(_matrices(y, dims.rhs_batching, *groups), 1 if has_rows else 2)
    signs = dtype_of(x) == np.int8, dtype_of(y) == np.int8
    words = -(-k * dtype_of(x).itemsize // WORD)
    return Product(batch, m, n, words, signs, has_rows, is_float).dispatch(lhs, rhs, extents)


def _matrices(x: Value, *groups: Sequence[int]) -> Value:
    """Build an array of three dimensions, each of which is a group of x's."""
    extents = [prod(shape_of(x)[d] for d in group) for group in groups]
    return shape.reshape(shape.transpose(x, [d for group in groups for d in group]), extents)


def _in_words(x: Value, dimension: int) -> Value:
    """Build x with zeros at the end of a dimension, so that it has whole words."""
    missing = -shape_of(x)[dimension] % (WORD // dtype_of(x).itemsize)
    if not missing:
        return x
    zeros = (0,) * len(shape_of(x))
    high = shape.insert((0, 0), dimension, missing)
    return Pad(zeros, high, zeros)(x, full((), 0, dtype_of(x)))


@dataclass(frozen=True)
class Product:
    """Products of [m, k] by [k, n] matrices whose rows, or columns, are so many words."""

    batch: int
    m: int
    n: int
    words: int
    """The words of a row of the left factor, and of a column of the right one."""
    signs: tuple[bool, bool]
    """True for the factor that is signed."""
    has_rows: bool
    """True if the rows of the right factor are contiguous, False if its columns are."""
    is_float: bool = False
    """True for numbers of bfloat16."""

    @property
    def held(self) -> np.dtype:
        """The dtype of integers as wide as numbers."""
        return np.dtype(np.int16 if self.is_float else np.int8)

    @property
    def sums(self) -> Vector:
        """A vector of sums."""
        return Vector(FLOAT32, 64) if self.is_float else _WORDS

    def dispatch(self, lhs: Value, rhs: Value, extents: Sequence[int]) -> Value:
        """Build the dispatch, with a result of a shape."""
        module, name = mlir.open_module(), name_of("words", self.m * self.n, self)
        if mlir.unique_name(module, name) == name:
            add_executable(module, name, self._counts, 3, lambda _, given: self._build(given))
        factors = [seen_as(x, self.held) for x in (lhs, rhs)]
        return dispatch(name, factors, [mlir.tensor_type(extents, self.sums.dtype)])[0]

    # ---- shares ----------------------------------------------------------------------------------

    @cached_property
    def _lines(self) -> Lines:
        """The product for the code of instructions that multiply small matrices."""
        numbers, signs = (2, None) if self.is_float else (4, self.signs)
        return Lines(
            *(self.sums.dtype, self.m, self.words, self.n, (self.words, 1)),
            rhs=(self.n, 1) if self.has_rows else (1, self.words),
            out=self.n,
            numbers=numbers,
            signs=signs,
        )

    @cached_property
    def _shape(self) -> Shape:
        if self._lines.is_by_blocks:
            return self._lines.shape
        return Shape.best(self.m, self.n, _WORDS.lanes, _REGISTERS)

    @cached_property
    def _panels(self) -> int:
        return -(-self.n // self._shape.columns)

    @cached_property
    def _shares(self) -> tuple[int, int, int]:
        """The products, the tiles of rows and the panels of a workgroup."""
        operations = 2 * self.batch * self.m * self.n * self.words
        wanted = max(1, min(processors(), operations // SHARE))
        products = size_of_share(self.batch, wanted)
        parts = max(1, wanted // self.batch)
        tiles = self.m // self._shape.rows
        if self._panels % parts == 0 or self._panels > tiles or self._lines.is_by_blocks:
            return products, max(1, tiles), size_of_share(self._panels, parts)
        return products, size_of_share(tiles, parts), self._panels

    @property
    def _counts(self) -> tuple[int, int]:
        products, tiles, panels = self._shares
        whole = max(1, self.m // self._shape.rows)
        return -(-self.batch // products), -(-whole // tiles) * -(-self._panels // panels)

    # ---- the code --------------------------------------------------------------------------------

    def _build(self, bindings: Sequence[Value]) -> None:
        depth = WORD * self.words
        sizes = self.m * depth, depth * self.n, self.m * self.n * WORD
        arrays = [base(x, self.batch * size) for x, size in zip(bindings, sizes, strict=True)]
        if self._lines.is_by_blocks:
            self._build_blocks(arrays, sizes)
            return
        memory = _WORDS.memory(self._depth * self._shape.columns)
        products, tiles, panels = self._shares
        count = max(1, self.m // self._shape.rows)
        by_rows = tiles < count
        extent, size = (count, tiles) if by_rows else (self._panels, panels)
        share_of = share(extent, size, 1)
        whole = index(0), index(count)
        rows, columns = (share_of, (index(0), index(panels))) if by_rows else (whole, share_of)

        def of_product(number: Value) -> None:
            places = [moved(x, number, size) for x, size in zip(arrays, sizes, strict=True)]
            code = _Code(self, self._shape, memory, *places)
            for_each(*columns, lambda panel: code.panel(panel, self._depth, rows))

        for_each(*share(self.batch, products, 0), of_product)

    def _build_blocks(self, arrays: Sequence[Value], sizes: Sequence[int]) -> None:
        products, _, panels = self._shares
        first, last = share(self.n, panels * self._shape.columns, 1)
        distance = WORD // self._lines.numbers if self.has_rows else WORD * self.words
        columns = emit("arith.subi", last, first)

        def of_product(number: Value) -> None:
            line, right, out = (
                moved(x, number, size) for x, size in zip(arrays, sizes, strict=True)
            )
            places = moved(right, first, distance), moved(out, first, WORD)
            lines = self._lines
            lines.build(
                index(0), index(1), lambda _, part: lines.at(line, part), *places, columns=columns
            )

        for_each(*share(self.batch, products, 0), of_product)

    @property
    def _depth(self) -> int:
        """The most words of a panel; whole vectors, as blocks are transposed."""
        most = PANELS // 2 // (self._shape.columns * WORD)
        lanes = _WORDS.lanes
        return min(-(-self.words // lanes), most // lanes) * lanes


@dataclass(frozen=True)
class _Code:
    product: Product
    shape: Shape
    memory: Value
    lhs: Value
    rhs: Value
    out: Value

    def panel(self, number: Value, most: int, tiles: tuple[Value, Value]) -> None:
        """Multiply tiles of rows by a panel, in parts of at most so many words."""
        product, rows = self.product, self.shape.rows
        column = times(number, self.shape.columns)
        masks = self._masks(column)
        first, last = tiles
        whole, rest = divmod(product.m, rows)

        def of_part(number: Value) -> None:
            start = times(number, most)
            depth = least(emit("arith.subi", index(product.words), start), most)
            (self._lay_out if product.has_rows else self._turn)(column, start, depth, masks)

            def of_rows(row: Value, count: int) -> None:
                self._tile(row, count, column, start, depth, masks)

            if whole:
                for_each(first, last, lambda tile: of_rows(times(tile, rows), rows))
            if rest:
                is_last = equal(last, max(1, whole))
                if_else(is_last, lambda: of_rows(index(whole * rows), rest))

        for_each(index(0), index(-(-product.words // most)), of_part)

    def _masks(self, column: Value) -> list[Value | None]:
        """The columns of the panel's vectors that there are; None for all."""
        if self.product.n % self.shape.columns == 0:
            return [None] * self.shape.vectors
        left = emit("arith.subi", index(self.product.n), column)
        return [_WORDS.mask(plus(left, -v * _WORDS.lanes)) for v in range(self.shape.vectors)]

    # ---- the panel -------------------------------------------------------------------------------

    @property
    def _is_moved(self) -> bool:
        """True if the numbers of the panel are moved by 128."""
        left, right = self.product.signs
        return left == right and not self.product.is_float

    def _keep(self, words: Value, row: Value, vector: int) -> None:
        """Store words of a row of the panel."""
        if self._is_moved:
            halves = constant(np.full(_WORDS.lanes, 0x80808080, np.uint32))
            words = emit("arith.xori", words, halves)
        place = plus(times(row, self.shape.columns), vector * _WORDS.lanes)
        store(words, self.memory, place)

    def _lay_out(self, column: Value, start: Value, depth: Value, masks: Sequence[Value | None]):
        """Lay out rows of the right factor, as many at a time as a word has numbers."""
        held = self.product.held
        numbers = Vector(held, _WORDS.lanes * held.itemsize)  # as many as a vector has words
        distance = self.product.n * held.itemsize
        count = WORD // held.itemsize
        there = plus(moved(self.rhs, start, count * distance), times(column, held.itemsize))

        def of_row(at: Value) -> None:
            source = moved(there, at, count * distance)
            for v, mask in enumerate(masks):
                place = plus(source, v * numbers.bytes)
                rows = [numbers.load(plus(place, i * distance), mask) for i in range(count)]
                words = emit("vector.bitcast", interleaved_rows(rows), to=_WORDS.type)
                self._keep(words, at, v)

        for_each(index(0), depth, of_row)

    def _turn(self, column: Value, start: Value, depth: Value, masks: Sequence[Value | None]):
        """Transpose blocks of words. Past the last column, that is read again."""
        lanes, last = _WORDS.lanes, index(self.product.n - 1)
        there = moved(self.rhs, start, WORD)

        def of_rows(number: Value) -> None:
            at = times(number, lanes)
            mask = _WORDS.mask(emit("arith.subi", depth, at))
            source = moved(there, at, WORD)
            for v in range(self.shape.vectors):
                columns = [
                    emit("arith.minsi", plus(column, v * lanes + i), last) for i in range(lanes)
                ]
                places = [moved(source, c, WORD * self.product.words) for c in columns]
                block = transposed([_WORDS.load(x, mask) for x in places])
                for i, words in enumerate(block):
                    self._keep(words, plus(at, i), v)

        for_each(index(0), emit("arith.ceildivsi", depth, index(lanes)), of_rows)

    # ---- the tiles -------------------------------------------------------------------------------

    def _tile(
        self,
        row: Value,
        count: int,
        column: Value,
        start: Value,
        depth: Value,
        masks: Sequence[Value | None],
    ) -> None:
        """Multiply some rows by the panel, and add the products to the sums so far."""
        product, vectors = self.product, self.shape.vectors
        distance = WORD * product.words
        left = moved(moved(self.lhs, row, distance), start, WORD)
        lines = [plus(left, r * distance) for r in range(count)]

        def of_word(at: Value, sums: Sequence[Value]) -> list[Value]:
            place = times(at, self.shape.columns)
            right = [
                load(self.memory, plus(place, v * _WORDS.lanes), _WORDS.lanes)
                for v in range(vectors)
            ]
            found: list[Value] = []
            for r in range(count):
                words = _WORDS.spread(plus(moved(left, at, WORD), r * distance))
                own = sums[r * vectors : (r + 1) * vectors]
                found += [self._add(z, words, y) for y, z in zip(right, own, strict=True)]
            return found

        begun = [self._begun(line, depth) for line in lines]
        sums = for_loop(index(0), depth, 1, [x for x in begun for _ in range(vectors)], of_word)
        out = moved(moved(self.out, row, product.n * WORD), column, WORD)

        def finish(add: bool) -> None:
            for i, total in enumerate(sums):
                r, v = divmod(i, vectors)
                place = plus(out, r * product.n * WORD + v * _WORDS.bytes)
                before = product.sums.load(place, masks[v]) if add else None
                adds = "arith.addf" if product.is_float else "arith.addi"
                value = total if before is None else emit(adds, before, total)
                product.sums.store(value, place, masks[v])

        if_else(equal(start, 0), lambda: finish(False), lambda: finish(True))

    def _begun(self, line: Value, depth: Value) -> Value:
        """The value that sums of a row begin with: what undoes the move of the panel."""
        if not self._is_moved:
            return self.product.sums.zeros()
        ones = constant(np.full(_WORDS.lanes, 0x01010101, np.int32))

        def of_words(at: Value, sums: Sequence[Value]) -> list[Value]:
            mask = _WORDS.mask(emit("arith.subi", depth, at))
            return [self._add(sums[0], _WORDS.load(moved(line, at, WORD), mask), ones)]

        (sums,) = for_loop(index(0), depth, _WORDS.lanes, [_WORDS.zeros()], of_words)
        kind = mlir.parse_attribute("#vector.kind<add>")
        total = emit("vector.reduction", sums, to=mlir.element_type(INT32), kind=kind)
        by = constant(np.array(-128 if self.product.signs[0] else 128, np.int32))
        return spread(emit("arith.muli", total, by), _WORDS.lanes)

    def _add(self, sums: Value, left: Value, right: Value) -> Value:
        """Add products of words of the left factor and of the panel to sums."""
        if self.product.is_float:
            return add_pairs(left, right, sums)
        # The instruction takes unsigned ones first.
        factors = (right, left) if self.product.signs[0] else (left, right)
        return add_products("llvm.x86.avx512.vpdpbusd.512", "i8", factors, sums)
