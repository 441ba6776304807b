"""The places of the first few elements of sorted rows, by a kernel.

The kernel keeps the least elements of a row so far, in order. It compares a vector of elements at a
time with the last of these, and inserts those that are less. Of n elements in random order, k times
log(n / k) are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, nan, prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.registers import constant, emit, index
from irax_compiler.ops.sorting.sort import Order
from irax_compiler.passes.kernels import executables
from irax_compiler.passes.kernels.code.loops import for_each, for_loop, if_else
from irax_compiler.passes.kernels.code.memory import load, store
from irax_compiler.passes.kernels.code.places import plus, times
from irax_compiler.passes.kernels.executables import local_memory
from irax_compiler.passes.kernels.moves.rows import Rows

LANES = 16
"""The elements that are compared at a time."""
STEPS = 20
"""The time of an insertion besides that of the elements that are kept, which it is compared with,
in units of the latter."""
SLOW = 2
"""The time that NumPy takes for an element of a row, in the same unit: 1 to 9 nanoseconds."""
HALF = 32
"""The bits of an element, and of its place."""
INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)


def pays(length: int, count: int) -> bool:
    """Return True if the kernel takes less time than NumPy for rows of `length` elements in random
    order, and can count them.
    """
    if length > np.iinfo(INT32).max:
        return False
    insertions = count * (1 + log(length / count))
    return insertions * (count + STEPS) <= SLOW * length


KNOWN = tuple(map(np.dtype, (np.float32, np.int32, np.uint32)))
"""The dtypes of elements whose keys the kernel computes."""


def first_places(x: Value, count: int, order: Order | None = None) -> Value:
    """Return the places, in int32, of the first `count` elements of the rows of an array in an
    order; of equal ones, that of the first comes first. Without an order, they are the least of
    unsigned numbers of at most 32 bits.
    """
    *others, length = shape_of(x)
    rows = _Rows(dtype_of(x), prod(others), length, count, order)
    return rows.dispatched("first", x, (*others, count))


@dataclass(frozen=True)
class _Rows(Rows):
    count: int
    order: Order | None

    work = 1 << 17

    @property
    def steps(self) -> int:
        """The number of elements."""
        return self.rows * self.length

    @property
    def key_type(self) -> mlir.Type:
        """The type of the numbers by whose order elements are."""
        return mlir.parse_type(f"i{8 * self.dtype.itemsize}")

    def key(self, x: Value) -> Value:
        """Build unsigned numbers whose order is the wanted order of elements."""
        if self.order is None:
            return x
        if self.dtype.kind == "f":
            if not self.order.total:  # one nan and one zero
                zero = registers.number(0.0, x)
                no_number = registers.spread(
                    constant(np.asarray(nan, np.float32)), registers.size_of(x)
                )
                x = registers.select(registers.compare("EQ", "f", x, zero), zero, x)
                x = registers.select(registers.compare("EQ", "f", x, x), x, no_number)
            x = registers.total_order_key(x)
        if self.dtype.kind != "u":
            x = emit("arith.xori", x, registers.number(-(1 << 31), x))
        return emit("arith.xori", x, registers.number(-1, x)) if self.order.direction == "GT" else x

    def build(self, bindings: list[Value]) -> None:
        """Build the code of a workgroup."""
        dtypes = registers.signless_dtype(self.dtype), INT32
        sizes = self.rows * self.length, self.rows * self.count
        numbers, places = (
            executables.view(x, size, mlir.element_type(dtype))
            for x, size, dtype in zip(bindings, sizes, dtypes, strict=True)
        )
        kept = local_memory(self.count, mlir.element_type(INT64), alignment=64)
        for_each(*self.own(), _Row(self, numbers, places, kept).build)


@dataclass(frozen=True)
class _Row:
    """The code for a row. An element is kept as a number in the upper half, and its place in the
    lower one; so equal elements are in the order of their places.
    """

    rows: _Rows
    numbers: Value
    places: Value
    kept: Value

    def build(self, row: Value) -> None:
        count, length = self.rows.count, self.rows.length
        start = times(row, length)

        def begin(i: Value) -> None:
            store(_long(-1), self.kept, i)

        def compare(i: Value) -> None:
            place = plus(times(i, LANES), count)
            end = plus(place, LANES)
            there = emit("arith.addi", start, place)
            vector = self.rows.key(load(self.numbers, there, LANES))
            if_else(
                registers.any_of(self._are_less(vector)),
                lambda: for_each(place, end, lambda j: self._offer(start, j)),
            )

        def write(i: Value) -> None:
            low = emit("arith.andi", load(self.kept, i), _long((1 << HALF) - 1))
            place = emit("arith.trunci", low, to=mlir.element_type(INT32))
            store(place, self.places, emit("arith.addi", times(row, count), i))

        vectors = (length - count) // LANES
        rest = index(count + vectors * LANES)
        for_each(index(0), index(count), begin)
        for_each(index(0), index(count), lambda i: self._insert(self._number(start, i), i))
        for_each(index(0), index(vectors), compare)
        for_each(rest, index(length), lambda i: self._offer(start, i))
        for_each(index(0), index(count), write)

    def _number(self, start: Value, place: Value) -> Value:
        return self.rows.key(load(self.numbers, emit("arith.addi", start, place)))

    def _offer(self, start: Value, place: Value) -> None:
        """Insert an element if it is less than the last that is kept."""
        number = self._number(start, place)
        if_else(self._are_less(number), lambda: self._insert(number, place))

    def _are_less(self, numbers: Value) -> Value:
        """Compare numbers with that of the last element that is kept."""
        last = load(self.kept, index(self.rows.count - 1))
        upper = emit("arith.shrui", last, _long(HALF))
        bound = emit("arith.trunci", upper, to=self.rows.key_type)
        bounds = registers.spread(bound, registers.size_of(numbers))
        return registers.compare("LT", "u", numbers, bounds)

    def _insert(self, number: Value, place: Value) -> None:
        """Insert an element into those kept, and drop the last of them."""
        wide = emit("arith.extui", number, to=mlir.element_type(INT64))
        upper = emit("arith.shli", wide, _long(HALF))
        item = emit("arith.ori", upper, emit("arith.index_cast", place, to=upper.type))

        def step(i: Value, carried: Sequence[Value]) -> list[Value]:
            other = load(self.kept, i)
            store(emit("arith.minui", other, carried[0]), self.kept, i)
            return [emit("arith.maxui", other, carried[0])]

        for_loop(index(0), index(self.rows.count), 1, [item], step)


def _long(x: int) -> Value:
    return constant(np.asarray(x, INT64))
