"""Scatters as dispatches that copy the array and combine it with the windows, in their order. An
array that is made for a scatter alone is not copied.

Each workgroup has a part of the array to itself, and goes through all windows. So the result does
not depend on the number of workgroups, also where windows overlap.
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
from irax_compiler.passes.kernels.moves import kernels
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
    fill = mlir.splat(x)
    kernel = Kernel(
        windows,
        dtype_of(x),
        vectors.dtype,
        bytes_of(fill),
        op.combiner if isinstance(op, Scatter) else op.computation.text,
        is_alone=fill is None and _is_made_for(x, operation),
    )
    operands = [updates, *([x] if fill is None else []), *vectors.arrays]

    def body(bindings: list[Value]) -> None:
        _Body.of(kernel, operation, fill).build(bindings)

    return kernels.dispatch(
        kernel.name,
        operands,
        operation.results[0],
        (kernel.workgroups, 1),
        body,
        in_place=1 if kernel.is_alone else None,
    )


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
        count = min(MOST, size * self.dtype.itemsize // SHARE)
        passes = windows.count // windows.run
        is_cheap = windows.run * self.dtype.itemsize >= 4 * REGISTER or 8 * passes <= size
        if count < 2 or not is_cheap or self._unit % windows.run:
            return size
        return -(-size // (count * self._unit)) * self._unit

    @property
    def workgroups(self) -> int:
        return -(-self.windows.array // self.part)


@dataclass(frozen=True)
class _Body:
    """The body of a kernel, for one workgroup."""

    kernel: Kernel
    operation: Operation
    dtype: np.dtype
    """The dtype of the registers that hold elements in memory."""
    fill: np.ndarray | None

    @classmethod
    def of(cls, kernel: Kernel, operation: Operation, fill: np.ndarray | None) -> _Body:
        x = operation.operands[0]
        bits = np.dtype(f"i{kernel.dtype.itemsize}")
        dtype = bits if _sets(operation) else held_dtype(x)
        return cls(kernel, operation, dtype, None if fill is None else fill.reshape(1).view(dtype))

    @property
    def _width(self) -> int:
        return REGISTER // self.dtype.itemsize

    def build(self, bindings: list[Value]) -> None:
        kernel, windows, element = self.kernel, self.kernel.windows, mlir.element_type(self.dtype)
        place = kernels.bits(kernel.index_dtype)
        updates, *rest, out = bindings
        is_apart = self._is_apart(rest[0], out) if kernel.is_alone else None
        updates = executables.view(updates, windows.count, element)
        out = executables.view(out, windows.array, element)
        source, indices = (rest[:1], rest[1:]) if self.fill is None else ([], rest)
        source = [executables.view(x, windows.array, element) for x in source]
        indices = [executables.view(x, windows.indices, place) for x in indices]
        first = times(workgroup(0), kernel.part)
        last = emit("arith.minsi", plus(first, index(kernel.part)), index(windows.array))
        if is_apart is None:
            self._initialize(source, out, first, last)
        else:
            if_else(is_apart, lambda: self._initialize(source, out, first, last))

        def window(places: Places) -> None:
            place, is_here = self._place(places, indices, first, last)
            if_else(is_here, lambda: self._combine(updates, places.windows, out, place))

        _nested(windows.loops, Places.zero(), window)

    def _is_apart(self, source: Value, out: Value) -> Value:
        """Compute if the result has memory of its own."""
        size = self.kernel.windows.array * self.dtype.itemsize
        return registers.compare("NE", "u", *(executables.base(x, size) for x in (source, out)))

    def _initialize(self, source: Sequence[Value], out: Value, first: Value, last: Value) -> None:
        """Copy the array's part, or fill it."""

        def copy(at: Value, width: int) -> None:
            if self.fill is None:
                element = load(source[0], at, width)
            else:
                element = registers.spread(registers.constant(self.fill), width)
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

    def _combine(self, updates: Value, at: Value, out: Value, place: Value) -> None:
        """Combine a run of elements of a window with those of the array."""
        block = self.operation.regions[0].blocks[0]

        def combine(offset: Value, width: int) -> None:
            new = load(updates, plus(at, offset), width)
            there = plus(place, offset)
            if not _sets(self.operation):
                own = load(out, there, width)
                scope = blocks.Scope(dict(zip(block.arguments, (own, new), strict=True)))
                (new,) = blocks.results(block, scope)
                new = registers.spread(new, width)
            store(new, out, there)

        kernels.in_registers(self.kernel.windows.run, self._width, combine)


def _nested(loops: Sequence[Loop], places: Places, body: Callable[[Places], None]) -> None:
    """Build loops around a body of the places that they reach."""
    if not loops:
        return body(places)
    outer, *rest = loops
    return for_each(
        index(0),
        index(outer.extent),
        lambda step: _nested(rest, places.after(outer, step), body),
    )


def _is_at_most(x: Value, limit: Value) -> Value:
    """Compare as unsigned numbers: negative ones are larger than all others."""
    return registers.compare("LE", "u", x, limit)
