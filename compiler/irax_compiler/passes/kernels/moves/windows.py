"""The windows of gathers and scatters as loops with strides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import comparison, elementwise, registers, shape, slicing
from irax_compiler.ops.reductions.window_shapes import WindowDims
from irax_compiler.ops.registers import emit, index
from irax_compiler.passes.kernels import executables
from irax_compiler.passes.kernels.code.loops import for_each
from irax_compiler.passes.kernels.code.memory import load
from irax_compiler.passes.kernels.code.places import plus, times
from irax_compiler.passes.kernels.moves import kernels
from irax_compiler.passes.kernels.views import axes, contiguous
from irax_compiler.passes.matching import is_full_of, made_by
from irax_compiler.passes.rewriting import read_as
from irax_compiler.processors import processors
from irax_compiler.sizes import Size

REGISTER = 64
"""The bytes of a vector."""
SHARE = 64 << 10
"""The bytes that a workgroup writes."""
PARTS = 2
"""The workgroups for each processor where sizes are not known."""


@dataclass(frozen=True)
class Loop:
    """A loop over a dimension of the windows, and the distances of its steps in memory."""

    extent: Any
    windows: Any
    array: Any
    indices: Any


@dataclass(frozen=True)
class Places:
    """The places of a window in each of the memories."""

    windows: Value
    array: Value
    indices: Value

    @classmethod
    def zero(cls) -> Places:
        return cls(index(0), index(0), index(0))

    def after(self, loop: Loop, steps: Value) -> Places:
        """Return the places after a number of steps of a loop."""
        return Places(
            plus(self.windows, times(steps, loop.windows)),
            plus(self.array, times(steps, loop.array)),
            plus(self.indices, times(steps, loop.indices)),
        )


@dataclass(frozen=True)
class Coordinate:
    """An element of index vectors."""

    operand: int
    """The number of the array of indices that it is in."""
    place: int
    """Its place in an index vector, in elements of the indices."""
    limit: int
    """The largest that it may be for a window to lie within the array."""
    stride: int
    """The distance in the array of windows whose coordinates differ by one."""
    end: int
    """The number that is added to negative coordinates."""


@dataclass(frozen=True)
class Windows:
    """Windows of an array at computed places, stored in an array of windows."""

    loops: tuple[Loop, ...]
    run: int
    """The number of elements that are consecutive in the array and in the windows."""
    coordinates: tuple[Coordinate, ...]
    array: int
    """The number of elements of the array."""
    indices: int
    """The number of elements of an array of indices."""
    count: int
    """The number of elements of all windows."""

    @classmethod
    def of(
        cls,
        dims: WindowDims,
        sizes: Sequence[int],
        array: Sequence[int],
        indices: Indices,
        windows: Sequence[int],
    ) -> Windows:
        in_array, in_windows = contiguous(array), contiguous(windows)
        in_indices = contiguous(indices.extents)
        apart = dims.collapsed_dims + dims.operand_batching_dims
        spanned = iter(d for d in range(len(array)) if d not in apart)
        batch = iter(d for d in range(len(in_indices)) if d != dims.index_vector_dim)
        along = dict(zip(dims.indices_batching_dims, dims.operand_batching_dims, strict=True))
        loops = []
        for d, extent in enumerate(windows):
            if d in dims.window_dims:
                loops.append(Loop(extent, in_windows[d], in_array[next(spanned)], 0))
            else:
                b = next(batch)
                stride = in_array[along[b]] if b in along else 0
                loops.append(Loop(extent, in_windows[d], stride, in_indices[b]))
        coordinates = tuple(
            Coordinate(*indices.place(e), array[d] - sizes[d], in_array[d], indices.ends[e])
            for e, d in enumerate(dims.index_map)
        )
        loops, run = _with_run(merged(loops))
        return cls(loops, run, coordinates, prod(array), prod(indices.extents), prod(windows))

    def places(self, indices: Sequence[Value], at: Value, is_unsigned: bool) -> list[Value]:
        """Load an index vector."""
        name = "arith.index_castui" if is_unsigned else "arith.index_cast"
        found = []
        for c in self.coordinates:
            x = load(indices[c.operand], plus(at, index(c.place)))
            found.append(emit(name, from_the_end(x, c.end), to=at.type))
        return found


@dataclass(frozen=True)
class WindowKernel:
    """A kernel that goes through windows."""

    windows: Windows
    dtype: np.dtype
    index_dtype: np.dtype
    fill: bytes | None
    """An element that takes the place of what is in no memory, if there is one."""

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        return kernels.name_of(self.kind, self.windows.count, self)

    @property
    def vectors(self) -> int:
        """The number of arrays of indices."""
        return 1 + max((c.operand for c in self.windows.coordinates), default=0)

    def indices_in(self, bindings: Sequence[Value]) -> list[Value]:
        """Return the memory of the arrays of indices."""
        place = kernels.bits(self.index_dtype)
        return [executables.view(x, self.windows.indices, place) for x in bindings]


def bytes_of(element: np.ndarray | None) -> bytes | None:
    """Return the bytes of an element, if there is one: kernels are compared."""
    return None if element is None else element.tobytes()


@dataclass(frozen=True)
class Indices:
    """The index vectors of a gather or a scatter."""

    arrays: tuple[Value, ...]
    """The array of vectors; or an array for each of their elements."""
    vector_dim: int
    ends: tuple[int, ...]
    """For each element of the vectors, the number that is added to it where it is negative."""

    @classmethod
    def of(cls, x: Value, dims: WindowDims) -> Indices:
        """Return index vectors as they were before negative indices were wrapped and vectors
        concatenated, if they were: IREE would write them for that.
        """
        arrays, vector_dim = (x,), dims.index_vector_dim
        source = mlir.definition(x)
        op = None if source is None else read_as(slicing.Concatenate, source)
        if source is not None and op == slicing.Concatenate(vector_dim):
            parts = tuple(source.operands)
            arrays = parts if len(parts) == shape_of(x)[vector_dim] else arrays
        counted = [_before_counting(array) for array in arrays]
        ends = tuple(end for _, end in counted) * (1 if len(arrays) > 1 else len(dims.index_map))
        return cls(tuple(array for array, _ in counted), vector_dim, ends)

    @property
    def extents(self) -> tuple[int, ...]:
        """The shape of an array."""
        return shape_of(self.arrays[0])

    @property
    def dtype(self) -> np.dtype:
        return dtype_of(self.arrays[0])

    def place(self, element: int) -> tuple[int, int]:
        """Return the array that has an element of the vectors, and its place in there."""
        if len(self.arrays) > 1:
            return element, 0
        return 0, element * prod(self.extents[self.vector_dim + 1 :])


def _before_counting(x: Value) -> tuple[Value, int]:
    """Return the indices from which others were made by wrapping negative ones, and the number that
    is added to these; itself and 0 if it was made otherwise.
    """
    reshaped = made_by(x, shape.Reshape)
    if reshaped is not None:
        before, end = _before_counting(reshaped.operand)
        return (shape.reshape(before, shape_of(x)), end) if end else (x, 0)
    chosen = made_by(x, comparison.select)
    if chosen is None or dtype_of(x).kind == "u":  # none is negative
        return x, 0
    is_negative, moved, before = chosen.operands
    compared, added = made_by(is_negative, comparison.Compare), made_by(moved, elementwise.add)
    if compared is None or compared.op.comparison_direction != "LT" or added is None:
        return x, 0
    end = mlir.splat(added.operands[1])
    is_it = compared.operand == added.operand == before and is_full_of(compared.operands[1], 0)
    return (before, int(end)) if is_it and end is not None else (x, 0)


def from_the_end(x: Value, end: int) -> Value:
    """Build the addition of a number to negative elements of a register."""
    if not end:
        return x
    moved = emit("arith.addi", x, registers.number(end, x))
    is_negative = registers.compare("LT", "i", x, registers.number(0, x))
    return registers.select(is_negative, moved, x)


@dataclass(frozen=True)
class Shares:
    """The division of nested loops among workgroups: a number of steps of the innermost loop, and
    of the loops around it.
    """

    loops: tuple[Loop, ...]
    inner_steps: Any
    outer_steps: Any

    @classmethod
    def of(cls, loops: tuple[Loop, ...], steps: int) -> Shares:
        """Return shares of about `steps` steps."""
        extent = loops[-1].extent if loops else 1
        outer = prod(loop.extent for loop in loops[:-1])
        if isinstance(extent, Size):
            return cls(loops, -(-extent // (PARTS * processors())), outer)
        if isinstance(outer, Size):
            return cls(loops, max(1, min(steps, extent)), -(-outer // (PARTS * processors())))
        return cls(loops, max(1, min(steps, extent)), max(1, steps // extent))

    @property
    def inner(self) -> Loop:
        """The innermost loop."""
        return self.loops[-1] if self.loops else Loop(1, 0, 0, 0)

    @property
    def _outer_extent(self) -> Any:
        return prod(loop.extent for loop in self.loops[:-1])

    @property
    def counts(self) -> tuple[int, int]:
        """The number of shares of the innermost loop, and of the loops around it."""
        inner = -(-self.inner.extent // self.inner_steps)
        outer = -(-self._outer_extent // self.outer_steps)
        most = PARTS * processors()
        return (
            most if isinstance(inner, Size) else inner,
            most if isinstance(outer, Size) else outer,
        )

    def build(self, workgroup: tuple[Value, Value], body: Callable[[Places, Value, Value], None]):
        """Build a workgroup's share, with a body of the places where the innermost loop begins, and
        of its first and last step.
        """
        self.build_alike([self.loops], workgroup, lambda places, *steps: body(places[0], *steps))

    def build_alike(
        self,
        nests: Sequence[tuple[Loop, ...]],
        workgroup: tuple[Value, Value],
        body: Callable[[list[Places], Value, Value], None],
    ) -> None:
        """Build a workgroup's share of several nested loops of the same extents, with a body of the
        places of each.
        """
        first, last = _share(workgroup[0], self.inner_steps, self.inner.extent)

        def outer_step(number: Value) -> None:
            places = [Places.zero() for _ in nests]
            for i, loop in reversed(list(enumerate(self.loops[:-1]))):
                at = emit("arith.remui", number, index(loop.extent))
                places = [x.after(nest[i], at) for x, nest in zip(places, nests, strict=True)]
                number = emit("arith.divui", number, index(loop.extent))
            body(places, first, last)

        bounds = _share(workgroup[1], self.outer_steps, self._outer_extent)
        for_each(*bounds, outer_step)


def _share(number: Value, steps: Any, extent: Any) -> tuple[Value, Value]:
    first = times(number, steps)
    return first, emit("arith.minsi", plus(first, index(steps)), index(extent))


def merged(loops: Sequence[Loop]) -> list[Loop]:
    """Merge loops that follow each other in all memories, and drop those of one step."""
    distances = [[x.windows for x in loops], [x.array for x in loops], [x.indices for x in loops]]
    found = axes([loop.extent for loop in loops], distances)
    return [replace(loops[axis.last], extent=axis.extent) for axis in found]


def _with_run(loops: Sequence[Loop]) -> tuple[tuple[Loop, ...], int]:
    """Take the innermost loop apart if its elements are consecutive."""
    if loops and (loops[-1].windows, loops[-1].array, loops[-1].indices) == (1, 1, 0):
        return tuple(loops[:-1]), loops[-1].extent
    return tuple(loops), 1
