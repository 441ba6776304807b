"""Cumulative reductions by vectors: along neighbouring elements, or side by side.

Long lines are divided into parts, which workgroups share: a first kernel folds each part, a second
one goes through it from the fold of the parts before. Within a part elements are folded in blocks,
so that rounding errors of sums stay small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.determinism import is_in_marked
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.core import full, working_dtype
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.reductions.cumulative import Run
from irax_compiler.ops.registers import emit, index
from irax_compiler.passes.kernels import executables
from irax_compiler.passes.kernels.code.loops import for_loop
from irax_compiler.passes.kernels.code.memory import load, store
from irax_compiler.passes.kernels.code.places import least, plus, times
from irax_compiler.passes.kernels.code.shuffles import picked, shuffled
from irax_compiler.passes.kernels.executables import workgroup
from irax_compiler.passes.kernels.moves import kernels

LANES = 16
"""The elements of a vector."""
BESIDE = 4
"""The most vectors that go through lines side by side."""
PART = 1 << 16
"""The least elements of a part of a line, where lines are divided."""
PARTS = 256
"""The most parts of a line: each adds up the folds of those before it."""
LINES = 32
"""The lines from which none is divided: they keep all processors busy."""


def is_known(dtype: np.dtype) -> bool:
    """True if kernels fold numbers of a dtype."""
    return dtype.kind in "iu" or (mlir.inexact(dtype) and dtype.kind != "c" and dtype.itemsize > 1)


def accumulated(operation: Operation, run: Run, combiner: str) -> Value:
    """Return the cumulative reduction that a `reduce_window` is, from the combiner's identity."""
    x = operation.operands[0]
    extents = shape_of(x)
    d = run.dimension
    outer, length, inner = prod(extents[:d]), extents[d], prod(extents[d + 1 :])
    kind = _Rows if inner == 1 else _Columns
    code = str(operation.regions[0].blocks[0].operations[0])
    lines = kind(dtype_of(x), outer, length, inner, run.backwards, combiner, code, operation)
    width = lines.width
    counts = outer * -(-inner // width), lines.parts
    if lines.parts == 1:
        return kernels.dispatch(lines.name("cumulative"), [x], x, counts, lines.of_whole)
    like = full((lines.parts, outer * inner), 0, lines.wider)
    totals = kernels.dispatch(lines.name("totals"), [x], like, counts, lines.of_totals)
    return kernels.dispatch(lines.name("cumulative"), [x, totals], x, counts, lines.of_parts)


@dataclass(frozen=True)
class _Lines:
    """The lines of an array along a dimension, and what folds them."""

    dtype: np.dtype
    outer: int
    length: int
    inner: int
    backwards: bool
    combiner: str
    code: str
    """The combining operation, as text."""
    operation: Operation

    block: ClassVar[int]
    """The elements of a line that are folded before the fold so far is combined with them."""

    @property
    def wider(self) -> np.dtype:
        """The dtype in which elements are folded: extrema are exact in their own."""
        is_exact = self.combiner in ("maximum", "minimum")
        return self.dtype if is_exact else working_dtype(self.dtype)

    @property
    def width(self) -> int:
        """The number of lines side by side that a workgroup goes through."""
        raise NotImplementedError

    def through(self, source: Value, line: Value, first: Value, end: Value, write: Write) -> Value:
        """Build the fold of the elements `first` to `end` of lines, from `line` on in memory, in
        the order in which they are reduced. `write` gets each fold so far, without those before.
        """
        raise NotImplementedError

    @property
    def together(self) -> int:
        """The elements of the register that `folded` gives."""
        return self.width

    def folded(self, source: Value, line: Value, first: Value, end: Value) -> Value:
        """Build the fold of elements, in parts that `across` combines."""
        return self.through(source, line, first, end, lambda *_: None)

    def across(self, fold: Value) -> Value:
        """Combine the parts of a fold."""
        return fold

    @property
    def parts(self) -> int:
        """The number of parts of a line."""
        many = self.outer * -(-self.inner // self.width) >= LINES
        return 1 if many or is_in_marked(self.operation) else -(-self.length // self.part)

    @property
    def part(self) -> int:
        """The elements of a part: whole blocks."""
        least = max(PART // self.width, -(-self.length // PARTS))
        return -(-least // self.block) * self.block

    def name(self, kind: str) -> str:
        """A name that no other kernel has."""
        told = (self.dtype.name, self.outer, self.length, self.inner, self.backwards, self.code)
        return kernels.name_of(kind, self.length, told)

    # ---- code ------------------------------------------------------------------------------------

    def of_whole(self, bindings: list[Value]) -> None:
        """Build the code of lines that are not divided."""
        source, target = (self._memory(x) for x in bindings)
        line = self.line(workgroup(0))
        self._scanned(source, target, line, index(0), index(self.length), self.neutral(self.width))

    def of_totals(self, bindings: list[Value]) -> None:
        """Build the code of the fold of a part."""
        source, totals = self._memory(bindings[0]), self._totals(bindings[1])
        line, (first, end) = self.line(workgroup(0)), self._own()

        def visit(number: Value, carried: registers.Registers) -> registers.Registers:
            fold = self.folded(source, line, *self._block(number, first, end))
            return [self.combined(carried[0], fold)]

        neutral = self.neutral(self.together)
        (found,) = for_loop(index(0), self._blocks(first, end), 1, [neutral], visit)
        total = self.across(found)
        store(total, totals, plus(self._place(workgroup(1)), self._number(workgroup(0))))

    def of_parts(self, bindings: list[Value]) -> None:
        """Build the code of a part that continues those before it."""
        source, totals, target = (
            self._memory(bindings[0]),
            self._totals(bindings[1]),
            self._memory(bindings[2]),
        )
        number = self._number(workgroup(0))

        def add(part: Value, carried: registers.Registers) -> registers.Registers:
            total = load(totals, plus(self._place(part), number), self.width)
            return [self.combined(carried[0], total)]

        (start,) = for_loop(index(0), workgroup(1), 1, [self.neutral(self.width)], add)
        line, (first, end) = self.line(workgroup(0)), self._own()
        self._scanned(source, target, line, first, end, start)

    def _scanned(
        self, source: Value, target: Value, line: Value, first: Value, end: Value, start: Value
    ) -> None:
        """Build the folds so far of a part's elements, a block after the other."""

        def visit(number: Value, carried: registers.Registers) -> registers.Registers:
            low, high = self._block(number, first, end)

            def write(fold: Value, at: Value, lanes: int) -> None:
                before = registers.spread(carried[0], lanes)
                store(self.narrow(self.combined(before, fold)), target, at)

            return [self.combined(carried[0], self.through(source, line, low, high, write))]

        for_loop(index(0), self._blocks(first, end), 1, [start], visit)

    def _blocks(self, first: Value, end: Value) -> Value:
        size = emit("arith.subi", end, first)
        return emit("arith.ceildivsi", size, index(self.block))

    def _block(self, number: Value, first: Value, end: Value) -> tuple[Value, Value]:
        low = plus(first, times(number, self.block))
        return low, emit("arith.minsi", plus(low, self.block), end)

    def line(self, number: Value) -> Value:
        """The place in memory of the first element of a workgroup's lines."""
        raise NotImplementedError

    def _own(self) -> tuple[Value, Value]:
        return executables.share(self.length, self.part, 1)

    def _number(self, number: Value) -> Value:
        """The number of a workgroup's first line."""
        raise NotImplementedError

    def _place(self, part: Value) -> Value:
        return times(part, self.outer * self.inner)

    def at(self, line: Value, step: Value) -> Value:
        """The place of a step of a line."""
        if self.backwards:
            step = emit("arith.subi", index(self.length - 1), step)
        return plus(line, times(step, self.inner) if self.inner > 1 else step)

    # ---- registers -------------------------------------------------------------------------------

    def combined(self, x: Value, y: Value) -> Value:
        """Combine registers as the reduction does."""
        inner = self.operation.regions[0].blocks[0].operations[0].operation
        return registers.apply(inner, [x, y])

    def neutral(self, lanes: int) -> Value:
        """A register of the identity."""
        element = np.asarray(reduce.identity(self.combiner, self.wider), self.wider)
        return registers.spread(registers.constant(element), lanes)

    def wide(self, x: Value) -> Value:
        """Return numbers in the dtype in which they are folded."""
        to = registers.with_elements(x, registers.signless_dtype(self.wider))
        return x if x.type == to else emit("arith.extf", x, to=to)

    def narrow(self, x: Value) -> Value:
        """Return folds in the dtype of the result."""
        to = registers.with_elements(x, registers.signless_dtype(self.dtype))
        return x if x.type == to else emit("arith.truncf", x, to=to)

    def _memory(self, binding: Value) -> Value:
        element = mlir.element_type(registers.signless_dtype(self.dtype))
        return executables.view(binding, self.outer * self.length * self.inner, element)

    def _totals(self, binding: Value) -> Value:
        element = mlir.element_type(registers.signless_dtype(self.wider))
        return executables.view(binding, self.parts * self.outer * self.inner, element)


Write = Callable[[Value, Value, int], None]
"""Gets a register of folds, their place in memory, and how many elements it has."""


class _Rows(_Lines):
    """Lines of neighbours: a vector is folded by shifts of 1, 2, 4, ... lanes."""

    block = 1024

    @property
    def width(self) -> int:
        return 1

    def line(self, number: Value) -> Value:
        return times(number, self.length)

    def _number(self, number: Value) -> Value:
        return number

    def through(self, source: Value, line: Value, first: Value, end: Value, write: Write) -> Value:
        size = emit("arith.subi", end, first)
        whole = times(emit("arith.divui", size, index(LANES)), LANES)
        middle = plus(first, whole)

        def vector(step: Value, carried: registers.Registers) -> registers.Registers:
            last = plus(step, LANES - 1) if self.backwards else step
            at = self.at(line, last)
            fold = self._prefixes(self.wide(load(source, at, LANES)))
            carry = registers.spread(carried[0], LANES)
            write(self.combined(carry, fold), at, LANES)
            return [self.combined(carried[0], picked(fold, np.array([self._end])))]

        def single(step: Value, carried: registers.Registers) -> registers.Registers:
            at = self.at(line, step)
            fold = self.combined(carried[0], self.wide(load(source, at)))
            write(fold, at, 1)
            return [fold]

        carried = for_loop(first, middle, LANES, [self.neutral(1)], vector)
        return for_loop(middle, end, 1, carried, single)[0]

    @property
    def together(self) -> int:
        return LANES * BESIDE

    def folded(self, source: Value, line: Value, first: Value, end: Value) -> Value:
        lanes = self.together
        size = emit("arith.subi", end, first)
        middle = plus(first, times(emit("arith.divui", size, index(lanes)), lanes))

        def vector(step: Value, carried: registers.Registers) -> registers.Registers:
            last = plus(step, lanes - 1) if self.backwards else step
            loaded = self.wide(load(source, self.at(line, last), lanes))
            return [self.combined(carried[0], loaded)]

        def single(step: Value, carried: registers.Registers) -> registers.Registers:
            return [self.combined(carried[0], self.wide(load(source, self.at(line, step))))]

        (fold,) = for_loop(first, middle, lanes, [self.neutral(lanes)], vector)
        (rest,) = for_loop(middle, end, 1, [self.neutral(1)], single)
        only_first = shuffled(
            *(registers.spread(rest, lanes), self.neutral(lanes)),
            np.array([0, *range(lanes, 2 * lanes - 1)]),
        )
        return self.combined(fold, only_first)

    def across(self, fold: Value) -> Value:
        while (size := registers.size_of(fold)) > 1:
            low, high = np.arange(size).reshape(2, size // 2)
            fold = self.combined(picked(fold, low), picked(fold, high))
        return fold

    @property
    def _end(self) -> int:
        """The lane of the last element."""
        return 0 if self.backwards else LANES - 1

    def _prefixes(self, x: Value) -> Value:
        neutral, lanes = self.neutral(LANES), np.arange(LANES)
        shift = 1
        while shift < LANES:
            sources = lanes + shift if self.backwards else lanes - shift
            known = (sources >= 0) & (sources < LANES)
            x = self.combined(shuffled(neutral, x, np.where(known, sources + LANES, 0)), x)
            shift *= 2
        return x


class _Columns(_Lines):
    """Lines side by side, as many as some vectors have elements; the last ones overlap with those
    before.
    """

    block = 64

    @property
    def width(self) -> int:
        return min(LANES * BESIDE, 1 << (self.inner.bit_length() - 1))

    def line(self, number: Value) -> Value:
        group, beside = self._split(number)
        return plus(times(group, self.length * self.inner), beside)

    def _number(self, number: Value) -> Value:
        group, beside = self._split(number)
        return plus(times(group, self.inner), beside)

    def _split(self, number: Value) -> tuple[Value, Value]:
        chunks = index(-(-self.inner // self.width))
        chunk = times(emit("arith.remui", number, chunks), self.width)
        return emit("arith.divui", number, chunks), least(chunk, self.inner - self.width)

    def through(self, source: Value, line: Value, first: Value, end: Value, write: Write) -> Value:
        def step(step: Value, carried: registers.Registers) -> registers.Registers:
            at = self.at(line, step)
            loaded = self.wide(load(source, at, self.width))
            fold = self.combined(carried[0], loaded)
            write(fold, at, self.width)
            return [fold]

        return for_loop(first, end, 1, [self.neutral(self.width)], step)[0]
