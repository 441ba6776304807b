"""Windows of arrays in memory, at computed places: gathers and scatters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops import registers
from irax_compiler.ops.indexing.gather_scatter import Gather, Scatter
from irax_compiler.ops.reductions.window_shapes import WindowDims
from irax_compiler.ops.registers import emit
from irax_compiler.passes.kernels.code.loops import counted, if_else
from irax_compiler.passes.kernels.loops import nests
from irax_compiler.passes.kernels.loops.arrays import Array, Place
from irax_compiler.passes.kernels.loops.nests import LANES

Starts = list[Value]
Visit = Callable[[Starts, Value | None, Array], None]
"""Builds what is done with a window: gets its place in each dimension of the array; whether it is
inside of the array, if that is asked for; and the window."""


def gathered(op: Gather, array: Array, indices: Array, result: Array) -> Array:
    """Lower `stablehlo.gather`. A single window is not copied to `result`."""
    single: list[Array] = []
    is_single = _count(op.dims, result) == 1

    def visit(starts: Starts, _: Value | None, window: Array) -> None:
        part = _part(op.dims, array, starts, op.slice_sizes)
        if is_single:
            single.append(part)
        else:
            nests.copy(part, window)

    _each(op.dims, array, op.slice_sizes, indices, result, visit, is_moved=True)
    if not is_single:
        return result
    strides = [0] * len(result.extents)
    for d, stride in zip(op.dims.window_dims, single[0].strides, strict=True):
        strides[d] = stride
    return replace(single[0], extents=result.extents, strides=tuple(strides))


def scatter(
    op: Scatter,
    array: Array,
    indices: Array,
    updates: Array,
    combine: Callable[[Value, Value], Value],
) -> None:
    """Lower `stablehlo.scatter` to the array itself."""
    sizes = op.dims.sizes(array.extents, updates.extents)

    def write(part: Array, window: Array) -> None:
        def body(size: int, places: list[Place]) -> None:
            there, new = places
            found = new.read(size)
            if op.combiner != "set":
                found = combine(there.read(size), found)
            there.write(found)

        nests.each([part, window], body, LANES)

    def visit(starts: Starts, fits: Value | None, window: Array) -> None:
        part = _part(op.dims, array, starts, sizes)
        if fits is None:
            write(part, window)
        else:
            if_else(fits, lambda: write(part, window))

    _each(op.dims, array, sizes, indices, updates, visit, is_moved=False)


def _count(dims: WindowDims, windows: Array) -> int:
    """Return the number of windows in an array of them."""
    return prod(n for d, n in enumerate(windows.extents) if d not in dims.window_dims)


def _part(dims: WindowDims, array: Array, starts: Starts, sizes: Sequence[int]) -> Array:
    """Return the part of an array that a window is."""
    apart = dims.collapsed_dims + dims.operand_batching_dims
    kept = [d for d in range(len(sizes)) if d not in apart]
    return array.part(starts, sizes).ordered(kept)


def _each(
    dims: WindowDims,
    array: Array,
    sizes: Sequence[int],
    indices: Array,
    windows: Array,
    visit: Visit,
    is_moved: bool,
) -> None:
    """Build loops over all windows, which are either moved to be inside of the array, or asked if
    they are.
    """
    vector = dims.index_vector_dim
    batch = [d for d in range(len(windows.extents)) if d not in dims.window_dims]
    others = [d for d in range(len(indices.extents)) if d != vector]
    vectors = indices.ordered([*others, *(d for d in (vector,) if d < len(indices.extents))])

    def build(at: list[Value], vectors: Array, window: Array) -> None:
        if len(at) < len(batch):

            def inner(i: Value, _: list[Value]) -> list[Value]:
                build([*at, i], vectors.row(i), window.row(i))
                return []

            counted(windows.extents[batch[len(at)]], 1, [], inner)
            return
        starts, fits = [registers.index(0)] * len(array.extents), None
        for d, b in zip(dims.operand_batching_dims, dims.indices_batching_dims, strict=True):
            starts[d] = at[others.index(b)]
        for e, d in enumerate(dims.index_map):
            last = array.extents[d] - sizes[d]
            given = vectors.place(registers.index(e)).read(1)
            is_unsigned = indices.dtype.kind == "u"
            if is_moved:
                starts[d] = within(given, is_unsigned, last)
            else:
                starts[d] = _as_index(given, is_unsigned)
                one = registers.compare("LE", "u", starts[d], registers.index(last))
                fits = one if fits is None else emit("arith.andi", fits, one)
        visit(starts, fits, window)

    build([], vectors, windows.ordered([*batch, *dims.window_dims]))


def within(given: Value, is_unsigned: bool, last: int) -> Value:
    """Return an integer as an index, moved to lie between 0 and `last`."""
    place = _as_index(given, is_unsigned)
    if not is_unsigned:
        place = emit("arith.maxsi", place, registers.index(0))
        return emit("arith.minsi", place, registers.index(last))
    return emit("arith.minui", place, registers.index(last))


def _as_index(given: Value, is_unsigned: bool) -> Value:
    name = "arith.index_castui" if is_unsigned else "arith.index_cast"
    return emit(name, given, to=mlir.parse_type("index"))
