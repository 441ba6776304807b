"""Sorts of short rows in memory, by insertion."""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Operation, Value, inexact, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.registers import Registers, emit
from irax_compiler.ops.slicing import Slice
from irax_compiler.ops.sorting.sort import Order, Sort
from irax_compiler.passes.kernels.code.loops import counted
from irax_compiler.passes.kernels.loops import nests
from irax_compiler.passes.kernels.loops.arrays import Array
from irax_compiler.passes.rewriting import read_as

ROW = 128
"""The most elements of a row that is sorted by insertion."""


def is_known(operation: Operation) -> bool:
    """True for a sort of short rows."""
    op = read_as(Sort, operation)
    return op is not None and shape_of(operation.operands[0])[op.dimension] <= ROW


def sort(operation: Operation, arrays: Sequence[Array], results: Sequence[Array]) -> None:
    """Lower `stablehlo.sort`, as far as its results are read."""
    op = read_as(Sort, operation)
    assert op is not None
    d = op.dimension % len(arrays[0].extents)
    order = [*(i for i in range(len(arrays[0].extents)) if i != d), d]
    kept = max(_read(x, d) for x in operation.results)
    count = len(arrays)

    def row(*both: Array) -> None:
        _sort_row(both[:count], both[count:], kept, op.order)

    nests.each_part([x.ordered(order) for x in (*arrays, *results)], 1, row)


def _read(x: Value, dimension: int) -> int:
    """Return the number of leading elements of a dimension of which others may be read."""
    users = mlir.users(x)
    slices = [read_as(Slice, user) for user in users]
    limits = [
        shape_of(x)[dimension] if op is None else op.limit_indices[dimension] for op in slices
    ]
    return max(limits, default=1)


def _sort_row(arrays: Sequence[Array], results: Sequence[Array], kept: int, order: Order) -> None:
    """Insert the elements of a row one after the other; `kept` of them stay, or one more."""
    length = arrays[0].extents[0]
    zero, one = registers.index(0), registers.index(1)

    def insert(i: Value, _: list[Value]) -> Registers:
        new = [x.place(i).read(1) for x in arrays]
        end = emit("arith.minsi", i, registers.index(min(kept, length - 1)))
        made = mlir.emit("scf.while", [end], {}, [end.type], regions=2)
        condition, body = (mlir.Block.create_at_start(r, [end.type]) for r in made.regions)
        with InsertionPoint(condition):
            at = condition.arguments[0]
            # What is read at the beginning of the row, where nothing comes before, is not used.
            last = emit("arith.maxsi", emit("arith.subi", at, one), zero)
            is_inside = registers.compare("GT", "i", at, zero)
            is_before = _before(order, arrays, new, [x.place(last).read(1) for x in results])
            goes_on = emit("arith.andi", is_inside, is_before)
            mlir.emit("scf.condition", [goes_on, at], {}, [])
        with InsertionPoint(body):
            at = body.arguments[0]
            last = emit("arith.subi", at, one)
            for x in results:
                x.place(at).write(x.place(last).read(1))
            mlir.emit("scf.yield", [last], {}, [])
        place = made.results[0]
        for x, element in zip(results, new, strict=True):
            x.place(place).write(element)
        return []

    counted(length, 1, [], insert)


def _before(order: Order, arrays: Sequence[Array], x: Registers, y: Registers) -> Value:
    """Return true if elements come before others."""
    found: Value | None = None
    for array, a, b in reversed(list(zip(arrays, x, y, strict=True))[: order.num_keys]):
        kind = "i" if array.dtype.kind == "i" else "u"
        if inexact(array.dtype):
            kind, a, b = "i", _float_key(a, order), _float_key(b, order)
        is_first = registers.compare(order.direction, kind, a, b)
        if found is not None:
            is_equal = registers.compare("EQ", kind, a, b)
            is_first = emit("arith.ori", is_first, emit("arith.andi", is_equal, found))
        found = is_first
    assert found is not None
    return found


def _float_key(x: Value, order: Order) -> Value:
    """Return an integer in the order of floats; with one nan and one zero, unless it is total."""
    if not order.total:
        zero = registers.number(0.0, x)
        x = registers.select(registers.compare("EQ", "f", x, zero), zero, x)
    key = registers.total_order_key(x)
    if order.total:
        return key
    most = registers.number(2 ** (key.type.width - 1) - 1, key)  # pyright: ignore
    return registers.select(registers.compare("EQ", "f", x, x), key, most)
