"""Gathers as dispatches in which several workgroups copy windows by vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.indexing.gather_scatter import Gather
from irax_compiler.ops.registers import emit, index
from irax_compiler.passes.kernels import executables
from irax_compiler.passes.kernels.code.loops import for_each
from irax_compiler.passes.kernels.code.memory import load, store
from irax_compiler.passes.kernels.code.places import clamped, plus, times
from irax_compiler.passes.kernels.executables import workgroup
from irax_compiler.passes.kernels.moves import kernels
from irax_compiler.passes.kernels.moves.fills import filled
from irax_compiler.passes.kernels.moves.lookups import fits, looked_up, table_of
from irax_compiler.passes.kernels.moves.windows import (
    REGISTER,
    SHARE,
    Indices,
    Places,
    Shares,
    WindowKernel,
    Windows,
    bytes_of,
    from_the_end,
)
from irax_compiler.passes.rewriting import read_as
from irax_compiler.sizes import Size

WIDE = 16
"""The bytes of consecutive elements from which copying them by vectors pays."""
INT32 = np.dtype(np.int32)


def gathered(op: Gather, operation: Operation) -> Mapping[Value, Value] | None:
    """Build the dispatch of a gather, and return it as the replacement of its result, or of the
    result of the select that fills windows beyond the array; None if vectors bring nothing.
    """
    result, kernel, operands = _kernel_of(op, operation)
    if not kernel.has_vectors:
        return None
    return {
        result: kernels.dispatch(kernel.name, operands, result, kernel.shares.counts, kernel.build)
    }


def gather_of(x: Value) -> tuple[Kernel, list[Value]] | None:
    """Return the kernel of the gather that makes an array, and its operands, if nothing else uses
    the array: a kernel may read from where the gather does. None of one that fills windows.
    """
    source = mlir.definition(x)
    op = None if source is None else read_as(Gather, source)
    if op is None or source is None or mlir.num_uses(x) != 1:
        return None
    _, kernel, operands = _kernel_of(op, source)
    return kernel, operands


def _kernel_of(op: Gather, operation: Operation) -> tuple[Value, Kernel, list[Value]]:
    """Return what the kernel of a gather gives, the kernel, and its operands."""
    x = operation.operands[0]
    result, fill = filled(op, operation) or (operation.results[0], None)
    indices = Indices.of(operation.operands[1], op.dims)
    windows = Windows.of(op.dims, op.slice_sizes, shape_of(x), indices, shape_of(result))
    kernel = Kernel(windows, dtype_of(x), indices.dtype, bytes_of(fill))
    return result, kernel, [x, *indices.arrays]


class Kernel(WindowKernel):
    """The kernel of a gather. If `fill` is None, windows beyond the array are moved to lie within
    it; otherwise they are full of it.
    """

    kind = "gather"

    @property
    def has_vectors(self) -> bool:
        """True if the kernel loads more than one element at a time."""
        is_one = self.dtype.itemsize <= 8
        return is_one and (self.windows.run * self.dtype.itemsize >= WIDE or self._lanes > 1)

    @property
    def shares(self) -> Shares:
        """The shares of workgroups."""
        steps = SHARE // (self.windows.run * self.dtype.itemsize)
        return Shares.of(self.windows.loops, steps)

    def build(self, bindings: list[Value]) -> None:
        """Build the body for one workgroup."""
        element = kernels.bits(self.dtype)
        memory = _Memory(
            executables.view(bindings[0], self.windows.array, element),
            self.indices_in(bindings[1:-1]),
            executables.view(bindings[-1], self.windows.count, element),
        )

        def share(base: Places, first: Value, last: Value) -> None:
            if self._lanes > 1:
                table = table_of(memory.array, self.windows.array) if self._is_table else []
                rest = emit("arith.remui", emit("arith.subi", last, first), index(self._lanes))
                whole = emit("arith.subi", last, rest)
                for_each(
                    *(first, whole, lambda at: self._elements(memory, base, at, table), self._lanes)
                )
                first = whole
            for_each(first, last, lambda at: self._window(memory, base, at))

        self.shares.build((workgroup(0), workgroup(1)), share)

    def _window(self, memory: _Memory, base: Places, at: Value) -> None:
        """Copy one window, or its consecutive elements."""
        places = base.after(self.shares.inner, at)
        read = self.reader(memory.array, memory.indices, places)

        def copy(offset: Value, width: int) -> None:
            store(read(offset, width), memory.out, plus(places.windows, offset))

        kernels.in_registers(self.windows.run, REGISTER // self.dtype.itemsize, copy)

    def reader(
        self, array: Value, indices: Sequence[Value], places: Places
    ) -> Callable[[Value, int], Value]:
        """Return what loads a number of consecutive elements of a window, from a place in it on."""
        is_unsigned = self.index_dtype.kind == "u"
        source, inside = places.array, []
        found = self.windows.places(indices, places.indices, is_unsigned)
        for x, coordinate in zip(found, self.windows.coordinates, strict=True):
            if self.fill is not None:
                inside.append(registers.compare("LE", "u", x, index(coordinate.limit)))
            if not is_unsigned:
                x = emit("arith.maxsi", x, index(0))
            x = emit("arith.minui", x, index(coordinate.limit))
            source = plus(source, times(x, coordinate.stride))

        def read(offset: Value, width: int) -> Value:
            return self._or_fill(load(array, plus(source, offset), width), inside)

        return read

    def _or_fill(self, found: Value, inside: Sequence[Value]) -> Value:
        """Replace elements by the fill value unless all conditions hold."""
        if self.fill is None:
            return found
        element = np.frombuffer(self.fill, f"i{self.dtype.itemsize}")
        fill = registers.spread(registers.constant(element), registers.size_of(found))
        for condition in inside:
            found = registers.select(condition, found, fill)
        return found

    # -- windows of one element, several at a time --

    @property
    def _lanes(self) -> int:
        """The number of elements that are gathered at a time."""
        inner, windows = self.shares.inner, self.windows
        is_plain = windows.run == 1 and inner.windows == 1 and inner.indices == 1
        if not is_plain or isinstance(windows.array, Size) or isinstance(inner.extent, Size):
            return 1
        fits = self.dtype.itemsize >= 4 and windows.array < 2**31
        lanes = REGISTER // self.dtype.itemsize
        return lanes if fits and inner.extent >= lanes else 1

    @property
    def _is_table(self) -> bool:
        """True if the array is a small one, and a workgroup looks up many more elements in it."""
        windows = self.windows
        is_whole = not any(loop.array for loop in windows.loops)
        is_worth = self.shares.inner.extent >= 2 * windows.array + REGISTER
        return is_whole and is_worth and fits(windows.array, self.dtype.itemsize)

    def _elements(self, memory: _Memory, base: Places, at: Value, table: Sequence[Value]) -> None:
        """Copy the elements of as many places as there are lanes, from a table in registers if
        there is one.
        """
        lanes, inner = self._lanes, self.shares.inner
        places = base.after(inner, at)
        steps = np.arange(lanes) * inner.array
        source, inside = registers.constant(steps.astype(INT32)), []
        for coordinate in self.windows.coordinates:
            start = plus(places.indices, index(coordinate.place))
            x = load(memory.indices[coordinate.operand], start, lanes)
            x = from_the_end(x, coordinate.end)
            if self.fill is not None:
                limit = min(coordinate.limit, int(np.iinfo(self.index_dtype).max))
                inside.append(registers.compare("LE", "u", x, registers.number(limit, x)))
            x = clamped(x, self.index_dtype, coordinate.limit)
            x = emit("arith.muli", x, registers.number(coordinate.stride, x))
            source = emit("arith.addi", source, x)
        if table:
            found = looked_up(table, source)
        else:
            found = self._loaded(memory, places.array, source)
        store(self._or_fill(found, inside), memory.out, places.windows)

    def _loaded(self, memory: _Memory, start: Value, distances: Value) -> Value:
        """Load elements at distances from a place."""
        element = kernels.bits(self.dtype)
        to = mlir.parse_type(f"vector<{self._lanes}x{element}>")
        all_lanes = registers.constant(np.ones(self._lanes, np.bool_))
        zeros = np.zeros(self._lanes, f"i{self.dtype.itemsize}")
        none = registers.number(0, registers.constant(zeros))
        return emit("vector.gather", memory.array, start, distances, all_lanes, none, to=to)


@dataclass(frozen=True)
class _Memory:
    """The memory that a kernel uses."""

    array: Value
    indices: Sequence[Value]
    out: Value
