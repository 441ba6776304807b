"""Loops over the elements of arrays, several elements at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

from irax_compiler.mlir import Value
from irax_compiler.ops import registers
from irax_compiler.ops.registers import Registers
from irax_compiler.passes.kernels.code.loops import counted
from irax_compiler.passes.kernels.loops.arrays import Array, Place
from irax_compiler.passes.kernels.views import axes

LANES = 16
"""The number of elements that are processed at a time."""

Body = Callable[[int, list[Place]], None]
"""Builds what is done with a number of elements of each array."""
Step = Callable[[list[Place], list[Value]], Registers]
"""Builds the next of the registers that a loop carries, from elements of each array."""


def each(arrays: Sequence[Array], body: Body, lanes: int = LANES) -> None:
    """Build loops over all elements of arrays of one shape: `lanes` at a time in the innermost
    one, and after it the remaining ones.
    """
    _nest(collapsed(arrays), body, lanes)


def each_part(arrays: Sequence[Array], rank: int, body: Callable[..., None]) -> None:
    """Build loops over the first dimensions of arrays, with a body of parts of a rank."""
    if len(arrays[0].extents) == rank:
        body(*arrays)
        return

    def inner(i: Value, _: list[Value]) -> Registers:
        each_part([x.row(i) for x in arrays], rank, body)
        return []

    counted(arrays[0].extents[0], 1, [], inner)


BLOCK = 256
"""The number of steps of a block: more than two blocks are folded apart."""


def fold(arrays: Sequence[Array], start: Registers, step: Step, lanes: int = 1) -> list[Value]:
    """Build loops, which carry registers, over all elements of collapsed arrays. Their number in
    the innermost dimension is a multiple of `lanes`.
    """
    extents = arrays[0].extents
    if not extents:
        return list(step([array.place(registers.index(0)) for array in arrays], list(start)))

    def inner(at: Value, carried: list[Value]) -> Registers:
        if len(extents) == 1:
            return step([array.place(at) for array in arrays], carried)
        return fold([array.row(at) for array in arrays], carried, step, lanes)

    return counted(extents[0], lanes if len(extents) == 1 else 1, start, inner)


def fold_in_blocks(
    arrays: Sequence[Array],
    start: Registers,
    step: Step,
    combine: Callable[[Registers, Registers], Registers],
    lanes: int = 1,
) -> list[Value]:
    """Build the same in blocks of `BLOCK` steps, each from `start` on, which leaves others as they
    are: rounding errors of sums stay small.
    """
    extents = arrays[0].extents
    unit = lanes if len(extents) == 1 else 1
    size = unit * max(1, BLOCK // max(1, prod(extents[1:]) // lanes)) if extents else 0
    if not extents or extents[0] <= 2 * size:
        return fold(arrays, start, step, lanes)
    zeros = [registers.index(0)] * (len(extents) - 1)

    def rows(first: Value, count: int) -> list[Array]:
        return [array.part([first, *zeros], (count, *extents[1:])) for array in arrays]

    def of_block(at: Value, totals: list[Value]) -> Registers:
        return combine(totals, fold(rows(at, size), start, step, lanes))

    whole = extents[0] // size * size
    totals = counted(whole, size, start, of_block)
    if whole == extents[0]:
        return totals
    rest = fold(rows(registers.index(whole), extents[0] - whole), start, step, lanes)
    return list(combine(totals, rest))


def copy(source: Array, to: Array) -> None:
    """Build a copy of the elements of an array to another of the same shape."""
    each([source, to], lambda size, places: places[1].write(places[0].read(size)))


def fill(to: Array, x: Value) -> None:
    """Build a copy of a scalar to each element of an array."""
    each([to], lambda size, places: places[0].write(registers.spread(x, size)))


def collapsed(arrays: Sequence[Array]) -> list[Array]:
    """Merge the dimensions of arrays of one shape where the strides of all allow it."""
    found = axes(arrays[0].extents, [array.strides for array in arrays])
    extents = tuple(axis.extent for axis in found)
    return [
        replace(array, extents=extents, strides=tuple(array.strides[axis.last] for axis in found))
        for array in arrays
    ]


def _nest(arrays: Sequence[Array], body: Body, lanes: int) -> None:
    extents = arrays[0].extents

    def outer(i: Value, _: list[Value]) -> Registers:
        _nest([array.row(i) for array in arrays], body, lanes)
        return []

    def innermost(size: int) -> Callable[[Value, list[Value]], Registers]:
        def step(at: Value, _: list[Value]) -> Registers:
            body(size, [array.place(at) for array in arrays])
            return []

        return step

    n, *inner = extents or (1,)
    if inner:
        counted(n, 1, [], outer)
    else:
        whole = n - n % lanes
        if whole:
            counted(whole, lanes, [], innermost(lanes))
        while whole < n:
            # LLVM splits vectors into single elements unless their size is a power of two.
            left = n - whole
            size = left if left < LANES else 1 << (left.bit_length() - 1)
            innermost(size)(registers.index(whole), [])
            whole += size
