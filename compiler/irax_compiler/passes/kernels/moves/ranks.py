"""The order of short rows, by a kernel: an element's place is the number of elements before it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.registers import constant, emit, index
from irax_compiler.passes.kernels import executables
from irax_compiler.passes.kernels.code.loops import for_each
from irax_compiler.passes.kernels.code.memory import load, store
from irax_compiler.passes.kernels.code.places import times
from irax_compiler.passes.kernels.executables import local_memory
from irax_compiler.passes.kernels.moves.rows import Rows

LANES = 16
"""The elements that are compared at a time."""
INT32 = np.dtype(np.int32)


def order(x: Value) -> Value:
    """Return the places, in int32, of the elements of rows of unsigned numbers in their order;
    equal ones stay in theirs.
    """
    *others, length = shape_of(x)
    return _Rows(dtype_of(x), prod(others), length).dispatched("order", x, shape_of(x))


class _Rows(Rows):
    work = 1 << 20

    @property
    def steps(self) -> int:
        """The number of comparisons."""
        return self.rows * self.length**2

    @property
    def vectors(self) -> int:
        """The number of vectors of a row."""
        return -(-self.length // LANES)

    def build(self, bindings: list[Value]) -> None:
        """Build the code of a workgroup."""
        element = mlir.element_type(registers.signless_dtype(self.dtype))
        numbers, places = (
            executables.view(x, self.rows * self.length, type_)
            for x, type_ in zip(bindings, (element, mlir.element_type(INT32)), strict=True)
        )
        row = local_memory(self.vectors * LANES, element, alignment=64)
        # What follows the row in its last vector is never less than an element of the row.
        highest = constant(np.full(LANES, np.iinfo(self.dtype).max, self.dtype))
        store(highest, row, index((self.vectors - 1) * LANES))
        for_each(*self.own(), _Row(self, numbers, places, row).build)


@dataclass(frozen=True)
class _Row:
    rows: _Rows
    numbers: Value
    places: Value
    row: Value
    """Memory for the row that is ordered."""

    def build(self, number: Value) -> None:
        length = self.rows.length
        start = times(number, length)

        def copy(i: Value) -> None:
            element = load(self.numbers, emit("arith.addi", start, i))
            store(element, self.row, i)

        def put(i: Value) -> None:
            place = emit("arith.index_cast", i, to=mlir.element_type(INT32))
            rank = emit("arith.index_cast", self._rank(i, place), to=i.type)
            store(place, self.places, emit("arith.addi", start, rank))

        for_each(index(0), index(length), copy)
        for_each(index(0), index(length), put)

    def _rank(self, i: Value, place: Value) -> Value:
        """Count the elements before element i: those that are less, and equal ones before it."""
        element = registers.spread(load(self.row, i), LANES)
        own = registers.spread(place, LANES)
        count = constant(np.zeros(LANES, INT32))
        for vector in range(self.rows.vectors):
            others = load(self.row, index(vector * LANES), LANES)
            places = constant(np.arange(vector * LANES, (vector + 1) * LANES, dtype=INT32))
            is_equal = registers.compare("EQ", "u", others, element)
            is_before = emit("arith.andi", is_equal, registers.compare("LT", "i", places, own))
            goes_before = emit(
                "arith.ori", registers.compare("LT", "u", others, element), is_before
            )
            count = emit("arith.addi", count, emit("arith.extui", goes_before, to=count.type))
        kind = mlir.parse_attribute("#vector.kind<add>")
        return emit("vector.reduction", count, to=mlir.element_type(INT32), kind=kind)
