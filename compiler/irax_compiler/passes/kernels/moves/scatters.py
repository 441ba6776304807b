"""Scatters as dispatches that copy the array and combine it with the windows, in their order. An
array that is made for a scatter alone is not copied, nor are windows that a gather alone makes of
another array: the kernel reads these from there.

Each workgroup has a part of the array to itself, and goes through all windows. So the result does
not depend on the number of workgroups, also where windows overlap. Of sums that are exact, such as
counts, to few places each workgroup makes its own (`tables.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.indexing.gather_scatter import Scatter, ScatterBy
from irax_compiler.ops.registers import emit, index
from irax_compiler.passes.core import nested
from irax_compiler.passes.kernels import executables
from irax_compiler.passes.kernels.code.loops import for_each, if_else
from irax_compiler.passes.kernels.code.memory import load, store
from irax_compiler.passes.kernels.code.places import plus, times
from irax_compiler.passes.kernels.executables import workgroup
from irax_compiler.passes.kernels.loops import blocks
from irax_compiler.passes.kernels.loops.memory import held_dtype, is_plain
from irax_compiler.passes.kernels.moves import gathers, kernels
from irax_compiler.passes.kernels.moves.tables import Tables, shape_with, tables_of, total
from irax_compiler.passes.kernels.moves.windows import (
    REGISTER,
    Indices,
    Loop,
    Places,
    WindowKernel,
    Windows,
    bytes_of,
)

SHARE = 128 << 10
"""The bytes of the array for a workgroup."""
MOST = 8
"""The most workgroups: each goes through all windows."""
FAST = 4
"""The consecutive elements of windows from which reading them where a gather does pays."""


def is_known(operation: Operation) -> bool:
    """True if there is a kernel for a scatter of one array."""
    if len(operation.operands) != 3:
        return False
    x, _, updates = operation.operands
    if dtype_of(x) != dtype_of(updates) or dtype_of(x).itemsize > 8:
        return False
    if _sets(operation):
        return True
    is_number = is_plain(x) and dtype_of(x) != np.bool_
    return is_number and all(blocks.is_known(o) for o in nested(operation))


def _sets(operation: Operation) -> bool:
    """True if windows replace the elements of the array."""
    block = operation.regions[0].blocks[0]
    return list(mlir.terminator(block).operands) == [block.arguments[1]]


def scattered(op: Scatter | ScatterBy, operation: Operation) -> Value:
    """Build the dispatch of a scatter."""
    x, indices, updates = operation.operands
    sizes = op.dims.sizes(shape_of(x), shape_of(updates))
    vectors = Indices.of(indices, op.dims)
    windows = Windows.of(op.dims, sizes, shape_of(x), vectors, shape_of(updates))
    fill, update = mlir.splat(x), mlir.splat(updates)
    combiner = op.combiner if isinstance(op, Scatter) else op.computation.text
    tables, dtype = tables_of(windows, combiner, dtype_of(x), fill, update), dtype_of(x)
    if tables is not None:
        dtype, fill = tables.dtype, np.zeros((), tables.dtype)
        update = update if tables.step is None else np.ones((), dtype)
    gathered = _gathered(windows, updates) if tables is None else None
    source, given = gathered or (None, [updates] if update is None else [])
    kernel = Kernel(
        windows,
        dtype,
        vectors.dtype,
        bytes_of(fill),
        combiner,
        is_alone=tables is None and fill is None and source is None and _is_made_for(x, operation),
        update=bytes_of(update),
        tables=tables,
        source=source,
    )
    operands = [*given, *([x] if kernel.fill is None else []), *vectors.arrays]
    made = kernels.dispatch(
        kernel.name,
        operands,
        operation.results[0],
        (kernel.workgroups, 1),
        _Body.of(kernel, operation).build,
        in_place=len(given) if kernel.is_alone else None,
        other=None if tables is None else (shape_with(tables, x), tables.dtype),
    )
    return made if tables is None else total(tables, made, x)


def _gathered(windows: Windows, updates: Value) -> tuple[gathers.Kernel, list[Value]] | None:
    """Return the gather that alone makes the windows, and its operands, if a window's elements are
    consecutive where it reads them.
    """
    found = gathers.gather_of(updates)
    if found is None or windows.run < FAST:
        return None
    theirs = found[0].windows
    extents = [[loop.extent for loop in each.loops] for each in (windows, theirs)]
    return found if theirs.run == windows.run and extents[0] == extents[1] else None


def _is_made_for(x: Value, operation: Operation) -> bool:
    """True if an array is computed beside an operation, which alone uses it."""
    source = mlir.definition(x)
    return source is not None and source.block == operation.block and mlir.num_uses(x) == 1


@dataclass(frozen=True)
class Kernel(WindowKernel):
    """The kernel of a scatter. `fill` is the element that the array is full of; None if the array
    is an operand.
    """

    computation: str
    """A combiner's name, or the text of a computation."""
    is_alone: bool
    """True if nothing else uses the array: the pass `overwrite` may put the result in its memory,
    unless another dispatch of the kernel is in the way.
    """
    update: bytes | None
    """The element that the windows are full of; None if they are an operand."""
    tables: Tables | None
    """The arrays that the workgroups update; None if that is the result."""
    source: gathers.Kernel | None
    """The gather that the kernel has the windows of; None if they are an operand."""

    kind = "scatter"

    @property
    def _unit(self) -> int:
        """The number of elements at whose multiples the array may be divided."""
        windows = self.windows
        strides = [loop.array for loop in windows.loops]
        strides += [coordinate.stride for coordinate in windows.coordinates]
        return gcd(windows.array, *strides) if windows.run > 1 else 1

    @property
    def part(self) -> int:
        """The number of elements of the array for a workgroup."""
        windows, size = self.windows, self.windows.array
        if self.tables is not None:
            return size
        count = min(MOST, size * self.dtype.itemsize // SHARE)
        passes = windows.count // windows.run
        is_cheap = windows.run * self.dtype.itemsize >= 4 * REGISTER or 8 * passes <= size
        if count < 2 or not is_cheap or self._unit % windows.run:
            return size
        return -(-size // (count * self._unit)) * self._unit

    @property
    def workgroups(self) -> int:
        if self.tables is not None:
            return self.tables.workgroups
        return -(-self.windows.array // self.part)


@dataclass(frozen=True)
class _Body:
    """The body of a kernel, for one workgroup."""

    kernel: Kernel
    operation: Operation
    dtype: np.dtype
    """The dtype of the registers that hold elements in memory."""
    fill: np.ndarray | None
    update: np.ndarray | None

    @classmethod
    def of(cls, kernel: Kernel, operation: Operation) -> _Body:
        x = operation.operands[0]
        bits = np.dtype(f"i{kernel.dtype.itemsize}")
        is_of_bits = kernel.tables is not None or _sets(operation)
        dtype = bits if is_of_bits else held_dtype(x)
        fill, update = (
            None if y is None else np.frombuffer(y, dtype) for y in (kernel.fill, kernel.update)
        )
        return cls(kernel, operation, dtype, fill, update)

    @property
    def _width(self) -> int:
        return REGISTER // self.dtype.itemsize

    def build(self, bindings: list[Value]) -> None:
        kernel, windows, element = self.kernel, self.kernel.windows, mlir.element_type(self.dtype)
        *given, out = bindings
        updates, theirs = None, []
        if kernel.source is not None:
            array, *theirs = [given.pop(0) for _ in range(1 + kernel.source.vectors)]
            updates = executables.view(array, kernel.source.windows.array, element)
            theirs = kernel.source.indices_in(theirs)
        elif self.update is None:
            updates = executables.view(given.pop(0), windows.count, element)
        source = given.pop(0) if self.fill is None else None
        is_apart = self._is_apart(source, out) if source is not None and kernel.is_alone else None
        indices = kernel.indices_in(given)
        if kernel.tables is not None:
            self._fill_tables(kernel.tables, updates, out, indices)
            return
        out = executables.view(out, windows.array, element)
        if source is not None:
            source = executables.view(source, windows.array, element)
        first = times(workgroup(0), kernel.part)
        last = emit("arith.minsi", plus(first, index(kernel.part)), index(windows.array))
        if is_apart is None:
            self._initialize(source, out, first, last)
        else:
            if_else(is_apart, lambda: self._initialize(source, out, first, last))

        def window(places: Places, source: Places) -> None:
            place, is_here = self._place(places, indices, first, last)

            def combine() -> None:
                read = self._reader(updates, places.windows)
                if kernel.source is not None and updates is not None:
                    read = kernel.source.reader(updates, theirs, source)
                self._combine(read, out, place)

            if_else(is_here, combine)

        nests = [
            windows.loops,
            windows.loops if kernel.source is None else kernel.source.windows.loops,
        ]
        _nested(list(zip(*nests, strict=True)), [Places.zero()] * 2, window)

    def _fill_tables(
        self, tables: Tables, updates: Value | None, out: Value, indices: Sequence[Value]
    ) -> None:
        """Count from nothing in tables of the workgroup's own."""
        windows = self.kernel.windows
        size = tables.in_turn * windows.array
        out = executables.view(out, tables.count * windows.array, mlir.element_type(self.dtype))
        first = times(workgroup(0), size)
        self._initialize(None, out, first, plus(first, index(size)))

        def update(number: Value, table: Value) -> None:
            places = Places.zero().after(windows.loops[0], number)
            place, is_here = self._place(places, indices, index(0), index(windows.array))
            if_else(is_here, lambda: self._add(updates, places.windows, out, plus(table, place)))

        tables.build(windows, update)

    def _add(self, updates: Value | None, at: Value, out: Value, place: Value) -> None:
        """Add an integer to one of a table."""
        new = _full(self.update, 1) if updates is None else load(updates, at, 1)
        store(emit("arith.addi", load(out, place, 1), new), out, place)

    def _is_apart(self, source: Value, out: Value) -> Value:
        """Compute if the result has memory of its own."""
        size = self.kernel.windows.array * self.dtype.itemsize
        return registers.compare("NE", "u", *(executables.base(x, size) for x in (source, out)))

    def _initialize(self, source: Value | None, out: Value, first: Value, last: Value) -> None:
        """Copy the array's part, or fill it."""

        def copy(at: Value, width: int) -> None:
            if source is not None:
                element = load(source, at, width)
            else:
                element = _full(self.fill, width)
            store(element, out, at)

        size = emit("arith.subi", last, first)
        rest = emit("arith.remui", size, index(self._width))
        whole = emit("arith.subi", last, rest)
        for_each(first, whole, lambda at: copy(at, self._width), self._width)
        for_each(whole, last, lambda at: copy(at, 1))

    def _place(
        self, places: Places, indices: Sequence[Value], first: Value, last: Value
    ) -> tuple[Value, Value]:
        """Return the place of a window in the array, and True if it is within this part of it."""
        kernel, place = self.kernel, places.array
        is_here = None
        found = kernel.windows.places(indices, places.indices, kernel.index_dtype.kind == "u")
        for at, coordinate in zip(found, kernel.windows.coordinates, strict=True):
            is_inside = _is_at_most(at, index(coordinate.limit))
            is_here = is_inside if is_here is None else emit("arith.andi", is_here, is_inside)
            place = plus(place, times(at, coordinate.stride))
        if is_here is None or kernel.part < kernel.windows.array:
            size = emit("arith.subi", last, plus(first, index(1)))
            is_own = _is_at_most(emit("arith.subi", place, first), size)
            is_here = is_own if is_here is None else emit("arith.andi", is_here, is_own)
        return place, is_here

    def _reader(self, updates: Value | None, at: Value) -> Callable[[Value, int], Value]:
        """Return what loads a number of consecutive elements of a window that begins at a place."""
        if updates is None:
            return lambda _, width: _full(self.update, width)
        return lambda offset, width: load(updates, plus(at, offset), width)

    def _combine(self, read: Callable[[Value, int], Value], out: Value, place: Value) -> None:
        """Combine a run of elements of a window with those of the array."""
        block = self.operation.regions[0].blocks[0]

        def combine(offset: Value, width: int) -> None:
            new = read(offset, width)
            there = plus(place, offset)
            if not _sets(self.operation):
                own = load(out, there, width)
                scope = blocks.Scope(dict(zip(block.arguments, (own, new), strict=True)))
                (new,) = blocks.results(block, scope)
                new = registers.spread(new, width)
            store(new, out, there)

        kernels.in_registers(self.kernel.windows.run, self._width, combine)


def _full(element: np.ndarray | None, width: int) -> Value:
    """Build a register that is full of an element."""
    assert element is not None
    return registers.spread(registers.constant(element), width)


def _nested(
    loops: Sequence[Sequence[Loop]], places: Sequence[Places], body: Callable[..., None]
) -> None:
    """Build nested loops, of alike ones in each dimension, around a body of the places that each
    reaches.
    """
    if not loops:
        return body(*places)
    alike, *rest = loops
    return for_each(
        index(0),
        index(alike[0].extent),
        lambda step: _nested(
            rest, [x.after(loop, step) for x, loop in zip(places, alike, strict=True)], body
        ),
    )


def _is_at_most(x: Value, limit: Value) -> Value:
    """Compare as unsigned numbers: negative ones are larger than all others."""
    return registers.compare("LE", "u", x, limit)
