"""Tables of a scatter's workgroups: sums that are exact in any order are made in several arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops.conversion import convert
from irax_compiler.ops.core import full, full_like
from irax_compiler.ops.elementwise import add, multiply, subtract
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.ops.registers import emit, index
from irax_compiler.passes.kernels.code.loops import for_each
from irax_compiler.passes.kernels.code.places import plus, times
from irax_compiler.passes.kernels.executables import workgroup
from irax_compiler.passes.kernels.moves.windows import Windows

SHARE = 1 << 14
"""The fewest updates of a workgroup."""
MOST = 8
"""The most workgroups."""
IN_TURN = 4
"""The tables of a workgroup that updates go to in turn: one need not wait for the one before where
both are of an element.
"""
SMALL = 4 << 10
"""The most bytes of a table of which a workgroup has several, all in the fastest cache."""
WORTH = 16
"""The updates for an element of a table from which on tables pay."""


@dataclass(frozen=True)
class Tables:
    """The tables of the workgroups of a scatter, one after another."""

    workgroups: int
    in_turn: int
    """The tables of a workgroup."""
    dtype: np.dtype
    """The dtype of sums; an integer, in which processors add faster than in floats."""
    step: float | None
    """The float that is added up, and that tables have the counts of; None for integers."""

    @property
    def count(self) -> int:
        return self.workgroups * self.in_turn

    def build(self, windows: Windows, update: Callable[[Value, Value], None]) -> None:
        """Build a workgroup's share of the updates, with the number of each, and the place of the
        table that it goes to.
        """
        total = windows.loops[0].extent
        share = -(-total // self.count) * self.in_turn
        first = times(workgroup(0), share)
        last = emit("arith.minsi", plus(first, index(share)), index(total))
        table = times(workgroup(0), self.in_turn * windows.array)
        rest = emit("arith.remui", emit("arith.subi", last, first), index(self.in_turn))
        whole = emit("arith.subi", last, rest)

        def turn(at: Value) -> None:
            for i in range(self.in_turn):
                update(plus(at, index(i)), plus(table, index(i * windows.array)))

        for_each(first, whole, turn, self.in_turn)
        for_each(whole, last, lambda at: update(at, table))


def tables_of(
    windows: Windows,
    combiner: str,
    dtype: np.dtype,
    fill: np.ndarray | None,
    update: np.ndarray | None,
) -> Tables | None:
    """Return the tables for a scatter to an array, which may be full of `fill`, of elements, which
    may all be `update`. None where they do not pay, or where sums depend on their order.
    """
    loops = windows.loops
    if combiner != "add" or windows.run > 1 or len(loops) != 1 or not windows.coordinates:
        return None
    (loop,) = loops
    if not isinstance(loop.extent, int) or not isinstance(windows.array, int) or loop.array:
        return None
    if dtype.kind not in "iu" and not _is_exact(loop.extent, dtype, fill, update):
        return None
    is_count = dtype.kind not in "iu"
    workgroups = min(MOST, loop.extent // SHARE)
    in_turn = IN_TURN if windows.array * dtype.itemsize <= SMALL else 1
    if WORTH * windows.array * workgroups * in_turn > loop.extent or not workgroups:
        return None
    if is_count and update is not None:
        return Tables(workgroups, in_turn, np.dtype(np.int32), float(update))
    return Tables(workgroups, in_turn, dtype, None)


def _is_exact(
    count: int, dtype: np.dtype, fill: np.ndarray | None, update: np.ndarray | None
) -> bool:
    """True if sums of a number of equal updates are whole numbers that a dtype has all of."""
    if fill is None or update is None or dtype not in (np.float32, np.float64):
        return False
    start, step = float(fill), float(update)
    is_whole = start.is_integer() and step.is_integer() and not np.signbit(start)
    most = 2 ** (np.finfo(dtype).nmant + 1)
    return is_whole and count < 2**31 and start + count * abs(step) <= most


def total(tables: Tables, made: Value, x: Value) -> Value:
    """Build the sum of an array and its tables."""
    sums = Reduce("add", (0,))(made, full((), 0, tables.dtype))
    if tables.step is not None:
        sums, size = convert(sums, dtype_of(x)), abs(tables.step)
        sums = sums if size == 1 else multiply(sums, full_like(sums, size))
        if np.signbit(tables.step):
            return subtract(x, sums)  # the product with the step is -0 where nothing is added
    fill = mlir.splat(x)
    return sums if fill is not None and not fill.any() else add(x, sums)


def shape_with(tables: Tables, x: Value) -> tuple[int, ...]:
    """Return the shape of all tables of an array."""
    return tables.count, *shape_of(x)
