"""Arrays in the memory of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops import registers
from irax_compiler.ops.core import Op, no_calls
from irax_compiler.ops.registers import emit
from irax_compiler.passes.kernels.code import memory
from irax_compiler.passes.kernels.code.places import moved
from irax_compiler.passes.kernels.code.shuffles import joined, picked
from irax_compiler.passes.kernels.loops.memory import stored_dtype
from irax_compiler.passes.kernels.views import contiguous

_BOOLEAN = np.dtype(np.bool_)


@dataclass(frozen=True)
class Place:
    """The place of an element in memory, and the distance to the next one."""

    memory: Value
    dtype: np.dtype
    at: Value
    distance: int

    def read(self, size: int) -> Value:
        """Read a register of `size` elements."""
        if size == 1 or self.distance in (0, 1):
            found = memory.read(self.memory, self.at, self.dtype, size if self.distance else 1)
            return registers.spread(found, size)
        places = (self._after(i) for i in range(size))
        found = joined([memory.load(self.memory, p) for p in places])
        if self.dtype == _BOOLEAN:
            found = emit("arith.trunci", found, to=registers.with_elements(found, _BOOLEAN))
        return found

    def write(self, x: Value) -> None:
        """Write the elements of a register."""
        size = registers.size_of(x)
        if size == 1 or self.distance == 1:
            memory.write(x, self.memory, self.at, size)
            return
        for i in range(size):
            memory.write(picked(x, np.array(i)), self.memory, self._after(i), 1)

    def _after(self, count: int) -> Value:
        return moved(self.at, registers.index(count), self.distance)


@dataclass(frozen=True)
class Counted(Place):
    """The place of an element that is equal to its index: it is computed, not read."""

    def read(self, size: int) -> Value:
        scalar = mlir.element_type(stored_dtype(self.dtype))
        first = emit("arith.index_cast", self.at, to=scalar)
        if size == 1 or self.distance == 0:
            return registers.spread(first, size)
        steps = np.arange(size, dtype=self.dtype) * self.dtype.type(self.distance)
        return emit("arith.addi", registers.spread(first, size), registers.constant(steps))


@dataclass(frozen=True)
class Array:
    """An array in memory: the place of its first element, and a stride for each dimension."""

    memory: Value
    dtype: np.dtype
    """The dtype of the value that the array holds."""
    base: Value
    extents: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def of(cls, memory: Value, dtype: np.dtype, extents: Sequence[int], base: Value) -> Array:
        """Return an array of contiguous elements."""
        return cls(memory, dtype, base, tuple(extents), contiguous(extents))

    @property
    def size(self) -> int:
        return prod(self.extents)

    @property
    def is_contiguous(self) -> bool:
        steps = zip(self.extents, self.strides, contiguous(self.extents), strict=True)
        return all(n == 1 or stride == one for n, stride, one in steps)

    def read(self) -> Value:
        """Read a register of all elements, which are contiguous."""
        return Place(self.memory, self.dtype, self.base, 1).read(self.size)

    def write(self, x: Value) -> None:
        """Write a register of all elements, which are contiguous."""
        Place(self.memory, self.dtype, self.base, 1).write(x)

    def place(self, at: Value) -> Place:
        """Return the place of an element of an array of at most one dimension."""
        (stride,) = self.strides or (0,)
        return Place(self.memory, self.dtype, moved(self.base, at, stride), stride)

    def row(self, i: Value) -> Array:
        """Return the part at an index of the first dimension."""
        base = moved(self.base, i, self.strides[0])
        return replace(self, base=base, extents=self.extents[1:], strides=self.strides[1:])

    def part(self, starts: Sequence[Value], extents: Sequence[int]) -> Array:
        """Return the part of a shape that begins at an index."""
        base = self.base
        for start, stride in zip(starts, self.strides, strict=True):
            base = moved(base, start, stride)
        return replace(self, base=base, extents=tuple(extents))

    def ordered(self, dimensions: Sequence[int]) -> Array:
        """Return the array with these of its dimensions, at the first index of others."""
        extents = tuple(self.extents[d] for d in dimensions)
        return replace(self, extents=extents, strides=tuple(self.strides[d] for d in dimensions))

    def squeezed(self) -> Array:
        """Return the array without dimensions of size 1."""
        return self.ordered([d for d, n in enumerate(self.extents) if n > 1])

    def with_shape(self, extents: Sequence[int]) -> Array:
        """Return an array of contiguous elements with another shape."""
        assert self.is_contiguous
        strides = Array.of(self.memory, self.dtype, extents, self.base).strides
        return replace(self, extents=tuple(extents), strides=strides)

    def seen_through(self, op: Op) -> Array | None:
        """Return what an op that moves elements makes of the array, if that is the array with other
        strides. NumPy computes the source of each element.
        """
        places = _places(self.extents, self.strides)
        found = np.asarray(op.evaluate(no_calls, places))
        first = int(found.flat[0])
        axes = np.eye(found.ndim, dtype=int)
        strides = tuple(
            int(found[tuple(axis)]) - first if n > 1 else 0
            for axis, n in zip(axes, found.shape, strict=True)
        )
        if not np.array_equal(found - first, _places(found.shape, strides)):
            return None
        base = moved(self.base, registers.index(first), 1 if first else 0)
        return replace(self, base=base, extents=found.shape, strides=strides)


@dataclass(frozen=True)
class Numbers(Array):
    """The integers 0, 1, ..., which are in no memory."""

    @classmethod
    def up_to(cls, dtype: np.dtype, extents: Sequence[int]) -> Numbers:
        """Return an array of them."""
        found = Array.of(registers.index(0), dtype, extents, registers.index(0))
        return cls(found.memory, dtype, found.base, found.extents, found.strides)

    def place(self, at: Value) -> Place:
        found = super().place(at)
        return Counted(found.memory, found.dtype, found.at, found.distance)

    def read(self) -> Value:
        return Counted(self.memory, self.dtype, self.base, 1).read(self.size)


def _places(extents: Sequence[int], strides: Sequence[int]) -> np.ndarray:
    steps = (np.arange(n) * stride for n, stride in zip(extents, strides, strict=True))
    return np.asarray(sum(np.ix_(*steps), np.zeros(tuple(extents), np.int64)))
