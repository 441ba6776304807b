"""Concatenations, pads and reversals as dispatches that copy parts of arrays by vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from operator import mul
from typing import Any

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import registers, slicing
from irax_compiler.ops.registers import emit, index
from irax_compiler.ops.size_code import usual
from irax_compiler.passes.kernels import executables
from irax_compiler.passes.kernels.code.loops import for_each, if_else
from irax_compiler.passes.kernels.code.memory import load, store
from irax_compiler.passes.kernels.code.places import plus
from irax_compiler.passes.kernels.code.shuffles import picked
from irax_compiler.passes.kernels.executables import workgroup
from irax_compiler.passes.kernels.moves import kernels
from irax_compiler.passes.kernels.moves.windows import (
    REGISTER,
    SHARE,
    Loop,
    Places,
    Shares,
    merged,
)
from irax_compiler.passes.kernels.views import contiguous
from irax_compiler.passes.matching import made_by
from irax_compiler.passes.rewriting import read_as
from irax_compiler.sizes import InconclusiveDimensionOperation, Size

MANY = 4096
"""The elements from which a kernel of its own pays."""


MOST = 24
"""The most arrays that are concatenated by one kernel."""


@dataclass(frozen=True)
class Part:
    """A part of a result, and the elements of an operand that are copied to it."""

    operand: int | None
    """The number of the operand; None if the part is filled."""
    loops: tuple[Loop, ...]
    """The loops around consecutive elements of the result: "windows" in the result, "array" in the
    operand."""
    run: Any
    """The number of consecutive elements."""
    out: Any
    """The place of the first element in the result."""
    source: Any
    """The place of the first element in the operand."""
    is_backwards: bool = False
    """True if consecutive elements of the result are in reverse order in the operand."""

    @classmethod
    def of(
        cls,
        operand: int | None,
        extents: Sequence[int],
        out: tuple[int, Sequence[int]],
        source: tuple[int, Sequence[int]],
    ) -> Part:
        """Return a part with the given extents; `out` and `source` are its first place and its
        strides.
        """
        loops = merged([Loop(*x, 0) for x in zip(extents, out[1], source[1], strict=True)])
        run, is_backwards = 1, False
        if loops and loops[-1].windows == 1 and loops[-1].array in (1, -1):
            is_backwards = loops[-1].array < 0
            run = loops.pop().extent
        return cls(operand, tuple(loops), run, out[0], source[0], is_backwards)

    def divided(self, most: int) -> list[Part]:
        """Return parts with runs of at most `most` elements."""
        rest = self.run % most
        whole = self.run - rest
        if not whole:
            return [self]
        sign = -1 if self.is_backwards else 1
        found = []
        loop = Loop(whole // most, most, sign * most, 0)
        found.append(replace(self, loops=tuple(merged([*self.loops, loop])), run=most))
        if rest:
            out, source = self.out + whole, self.source + sign * whole
            found.append(replace(self, run=rest, out=out, source=source))
        return found


@dataclass(frozen=True)
class Kernel:
    """A kernel that writes parts of its result."""

    parts: tuple[Part, ...]
    sizes: tuple[Any, ...]
    """The numbers of elements of the operands, and of the result."""
    dtype: np.dtype
    fill: bytes
    """The element with which parts are filled."""

    @property
    def name(self) -> str:
        return kernels.name_of("copy", self.sizes[-1], self)

    @cached_property
    def rows(self) -> list[list[Part]]:
        """The parts that are written together: those that are in the same rows of the result, from
        left to right. Memory is then written in order.
        """
        parts: Sequence[Part] = self.parts
        if not any(isinstance(part.out, Size) for part in parts):
            parts = sorted(parts, key=lambda part: part.out)
        found: dict[tuple[Any, ...], list[Part]] = {}
        for part in parts:
            form = tuple((loop.extent, loop.windows) for loop in part.loops)
            found.setdefault(form or (part.out,), []).append(part)
        return list(found.values())

    def shares(self, parts: Sequence[Part]) -> Shares:
        """Return the shares of workgroups in parts that are written together."""
        row = sum(part.run for part in parts) * self.dtype.itemsize
        return Shares.of(parts[0].loops, SHARE // row)

    @property
    def counts(self) -> tuple[int, int]:
        """The number of workgroups."""
        return sum(prod(self.shares(parts).counts) for parts in self.rows), 1

    def build(self, bindings: list[Value]) -> None:
        """Build the body for one workgroup, which is in some of the parts."""
        element = kernels.bits(self.dtype)
        memory = [
            executables.view(x, size, element) for x, size in zip(bindings, self.sizes, strict=True)
        ]
        number, first = workgroup(0), 0
        for parts in self.rows:
            inner, outer = self.shares(parts).counts
            own = emit("arith.subi", number, index(first))
            is_here = registers.compare("LT", "u", own, index(inner * outer))

            def copy(parts: list[Part] = parts, own: Value = own, inner: int = inner) -> None:
                remainder, quotient = (
                    emit(f"arith.{name}", own, index(inner)) for name in ("remui", "divui")
                )
                self._copy(parts, (remainder, quotient), memory)

            if_else(is_here, copy)
            first += inner * outer

    def _copy(
        self, parts: Sequence[Part], place: tuple[Value, Value], memory: Sequence[Value]
    ) -> None:
        shares = self.shares(parts)
        nests = [part.loops for part in parts]

        def share(base: list[Places], first: Value, last: Value) -> None:
            def step(at: Value) -> None:
                for part, places in zip(parts, base, strict=True):
                    loop = part.loops[-1] if part.loops else shares.inner
                    self._copy_run(part, places.after(loop, at), memory)

            for_each(first, last, step)

        shares.build_alike(nests, place, share)

    def _copy_run(self, part: Part, places: Places, memory: Sequence[Value]) -> None:
        """Build the copy of consecutive elements."""
        *operands, out = memory
        to = plus(places.windows, index(part.out))
        start = plus(places.array, index(part.source))

        def element(offset: Value, width: int) -> Value:
            if part.operand is None:
                bits = np.frombuffer(self.fill, f"i{self.dtype.itemsize}")
                return registers.spread(registers.constant(bits), width)
            array = operands[part.operand]
            if not part.is_backwards:
                return load(array, plus(start, offset), width)
            last = emit("arith.subi", start, plus(offset, index(width - 1)))
            return picked(load(array, last, width), np.arange(width)[::-1])

        def copy(offset: Value, width: int) -> None:
            store(element(offset, width), out, plus(to, offset))

        kernels.in_registers(part.run, REGISTER // self.dtype.itemsize, copy, overlap=True)


def pays(result: Value) -> bool:
    """Return True if there are enough elements, of a size that kernels copy, for one of its own."""
    return usual(prod(shape_of(result))) >= MANY and dtype_of(result).itemsize <= 8


def copied(
    result: Value, operands: Sequence[Value], parts: Sequence[Part], fill: np.ndarray | None = None
) -> Value:
    """Build the dispatch of a kernel that writes parts of a result.

    Raises:
        InconclusiveDimensionOperation: the length of consecutive elements is not known.
    """
    dtype = dtype_of(result)
    if any(isinstance(part.run, Size) for part in parts):
        raise InconclusiveDimensionOperation("what is copied has no rows of known length")
    most = SHARE // dtype.itemsize
    sizes = tuple(prod(shape_of(x)) for x in (*operands, result))
    divided = tuple(piece for part in parts for piece in part.divided(most))
    kernel = Kernel(divided, sizes, dtype, b"" if fill is None else fill.tobytes())
    return kernels.dispatch(kernel.name, operands, result, kernel.counts, kernel.build)


# ---- which parts ---------------------------------------------------------------------------------

Arrays = list[Value]


def reversal(x: Value, dimensions: Sequence[int]) -> tuple[Arrays, list[Part]]:
    """Return the one part of an array reversed along dimensions."""
    extents, out = shape_of(x), contiguous(shape_of(x))
    array, start, steps = _source(x)
    start += sum((extents[d] - 1) * steps[d] for d in dimensions)
    signed = [-n if d in dimensions else n for d, n in enumerate(steps)]
    return [array], [Part.of(0, extents, (0, out), (start, signed))]


def reversed_copy(operation: Operation) -> Value | None:
    """Build the dispatch of a kernel that reverses an array as an operation does, if it pays."""
    op, (result,) = read_as(slicing.Reverse, operation), operation.results
    if op is None or not pays(result):
        return None
    return copied(result, *reversal(operation.operands[0], op.dimensions))


def concatenated_copy(operation: Operation) -> Value | None:
    """Build the dispatch of a kernel that concatenates arrays as an operation does, if it pays."""
    op, (result,) = read_as(slicing.Concatenate, operation), operation.results
    if op is None or not pays(result) or len(operation.operands) > MOST:
        return None
    if prod(shape_of(result)[: op.dimension]) == 1:  # IREE copies these as a whole
        return None
    given = [x for x in operation.operands if 0 not in shape_of(x)]
    return copied(result, *concatenation(result, given, op.dimension))


def concatenation(
    result: Value, operands: Sequence[Value], dimension: int
) -> tuple[Arrays, list[Part]]:
    """Return arrays, and the parts of a concatenation that are copied from each."""
    steps, place = contiguous(shape_of(result)), 0
    arrays, parts = [], []
    for x in operands:
        array, start, along = _source(x)
        if array not in arrays:
            arrays.append(array)
        out = place * steps[dimension], steps
        parts.append(Part.of(arrays.index(array), shape_of(x), out, (start, along)))
        place += shape_of(x)[dimension]
    return arrays, parts


def padding(
    x: Value,
    result: Value,
    low: Sequence[int],
    interior: Sequence[int],
    under: Value | None = None,
) -> tuple[Arrays, list[Part]]:
    """Return the part of a padded array that is copied, and those that are filled, or copied from
    the same places of the array `under` it: for each dimension two around the padded array and some
    between its elements, within the copied part of the dimensions before it.
    """
    extents, whole, steps = shape_of(x), shape_of(result), contiguous(shape_of(result))
    apart = [(n + 1) * step for n, step in zip(interior, steps, strict=True)]
    array, start, along = _source(x)
    parts = [Part.of(0, extents, (sum(map(mul, low, steps)), apart), (start, along))]
    for d, n in enumerate(extents):
        start = sum(low[k] * steps[k] for k in range(d))
        beyond = low[d] + n + (n - 1) * interior[d]
        between = [(low[d] + i + 1, n - 1, apart[d]) for i in range(interior[d])]
        around = [(0, low[d], steps[d]), (beyond, whole[d] - beyond, steps[d])]
        for place, count, step in (*around, *between):
            if count:
                size = (*extents[:d], count, *whole[d + 1 :])
                out = start + place * steps[d], [*apart[:d], step, *steps[d + 1 :]]
                number, source = (None, (0, steps)) if under is None else (1, out)
                parts.append(Part.of(number, size, out, source))
    return [array] if under is None else [array, under], parts


def _source(x: Value) -> tuple[Value, int, Sequence[int]]:
    """Return the array that has a value's elements, the place of the first, and their strides.
    Slices are read from the array that they are slices of.
    """
    sliced = made_by(x, slicing.Slice)
    if sliced is None:
        return x, 0, contiguous(shape_of(x))
    steps = contiguous(shape_of(sliced.operand))
    start = sum(map(mul, sliced.op.start_indices, steps))
    return sliced.operand, start, list(map(mul, sliced.op.strides, steps))
