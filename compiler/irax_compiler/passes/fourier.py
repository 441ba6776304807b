"""The pass fourier, which makes Fourier transforms kernels of IREE's.

A kernel transforms as many rows at a time as a vector has elements, each in one element of all
vectors. It reads blocks of the rows into memory of its own, transposed; makes a pass over these for
each factor of the length, in which the results come out in order (T. G. Stockham, 1966); and writes
blocks back, transposed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from operator import mul
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, Type, Value, dtype_of, shape_of
from irax_compiler.ops import core
from irax_compiler.ops.fft import Fft, real_dtype
from irax_compiler.ops.registers import constant, emit, index, spread
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.executables import (
    SHARE,
    add_executable,
    dispatch,
    for_each,
    plus,
    share,
    times,
    workers_of,
    workgroup,
)
from irax_compiler.passes.loops.vectors import transposed
from irax_compiler.passes.rewriting import Pattern, Replacement, read_as, rewrite_in_order

LANES = {"float32": 16, "float64": 8}
"""The elements of a vector, for the dtype of the parts of complex numbers."""
FACTORS = (8, 4, 2, 3, 5, 7, 11, 13)
"""The factors of lengths, of which there are passes."""
LONGEST = 8192
"""The longest transform whose memory, for all rows of a vector, is near a processor."""

Complex = tuple[Value, Value]
"""Vectors of real and of imaginary parts."""


@register_pass
@dataclass
class Fourier(Pass):
    """Replaces Fourier transforms of many rows, of lengths without large prime factors, by kernels.
    Equal transforms share an executable.
    """

    name: ClassVar[str] = "fourier"
    workers: int = 0
    """The number of workgroups that share a transform; 0 means one per processor."""

    def run(self, module: Module) -> None:
        if not any(o.name == Fft.name for o in nested(module.operation)):
            return
        names: dict[Transform, str] = {}
        for function in mlir.functions(module).values():
            workers = self.workers or workers_of(function)

            def replacement(operation: Operation, workers: int = workers) -> Replacement:
                found = transform_of(operation, workers)
                return None if found is None else _dispatched(module, names, found, operation)

            rewrite_in_order(function, [Pattern(self.name, (Fft.name,), (), replacement)])


def transform_of(operation: Operation, workers: int = 1) -> Transform | None:
    """Return the transform of rows that an operation is, if there is a kernel for it."""
    op = read_as(Fft, operation)
    if op is None or op.rank != 1:
        return None
    *batch, _ = shape_of(operation.results[0])
    dtype = real_dtype(dtype_of(operation.results[0]))
    found = Transform(dtype, op.fft_type, op.fft_length[0], prod(batch), workers)
    return found if found.has_kernel else None


def _dispatched(
    module: Module, names: dict[Transform, str], found: Transform, operation: Operation
) -> Value:
    if found not in names:
        names[found] = mlir.unique_name(module, "fourier")
        found.add_executable(module, names[found])
    operands = [operation.operands[0], core.constant(found.twiddles)]
    types = [operation.results[0].type, found.scratch_type]
    return dispatch(names[found], operands, types)[0]


def factors(n: int) -> list[int] | None:
    """Return factors of a length of which there are passes; None if there are other ones."""
    found: list[int] = []
    for factor in FACTORS:
        while n % factor == 0 and n > 1:
            found.append(factor)
            n //= factor
    return found if n == 1 else None


@dataclass(frozen=True)
class Transform:
    """Transforms of `batch` rows, and the number of workers that share them."""

    dtype: np.dtype
    """The dtype of real and imaginary parts."""
    kind: str
    """FFT, IFFT, RFFT or IRFFT."""
    n: int
    batch: int
    workers: int

    @property
    def lanes(self) -> int:
        return LANES[self.dtype.name]

    @property
    def has_kernel(self) -> bool:
        """True if the length has small factors, and rows and batch fill vectors."""
        few = self.batch < self.lanes or not self.lanes <= self.n <= LONGEST
        return not few and factors(self.n) is not None

    @property
    def is_inverse(self) -> bool:
        return self.kind in ("IFFT", "IRFFT")

    @property
    def half(self) -> int:
        """The number of frequencies of real numbers."""
        return self.n // 2 + 1

    @property
    def lengths(self) -> tuple[int, int]:
        """The numbers of real numbers in a row of the array, and of the result."""
        whole, half = 2 * self.n, 2 * self.half
        return {
            "FFT": (whole, whole),
            "IFFT": (whole, whole),
            "RFFT": (self.n, half),
            "IRFFT": (half, self.n),
        }[self.kind]

    @property
    def passes(self) -> list[tuple[int, int, int]]:
        """For each pass the factor, the product of those to come, and of those before."""
        found = factors(self.n) or []
        done = [1, *accumulate(found, mul)]
        return [(f, self.n // s // f, s) for f, s in zip(found, done, strict=False)]

    @property
    def twiddles(self) -> np.ndarray:
        """The numbers that the results of passes are multiplied with, except the first of each
        group, which is 1.
        """
        sign = 2j if self.is_inverse else -2j
        tables = [
            np.exp(sign * np.pi / (f * m) * np.outer(np.arange(m), np.arange(1, f)))
            for f, m, _ in self.passes
        ]
        both = [np.stack([np.real(t), np.imag(t)], -1).reshape(-1) for t in tables]
        return np.concatenate(both).astype(self.dtype)

    @property
    def _groups(self) -> int:
        """The number of groups of rows."""
        return -(-self.batch // self.lanes)

    @property
    def _share(self) -> int:
        """The number of groups of a workgroup."""
        operations = 5 * self.batch * self.n * self.n.bit_length()
        wanted = min(self.workers, operations // SHARE, self._groups)
        return -(-self._groups // max(1, wanted))

    @property
    def _extents(self) -> tuple[int, int]:
        """The number of workgroups, and the numbers in the scratch memory of each."""
        return -(-self._groups // self._share), 2 * 2 * self.n * self.lanes

    @property
    def scratch_type(self) -> Type:
        """The type of the scratch memory of all workgroups, a further result."""
        return mlir.tensor_type(self._extents, self.dtype)

    def add_executable(self, module: Module, name: str) -> None:
        """Add the executable `name`: from rows and twiddle factors to rows and scratch memory."""
        sizes = [
            self.batch * self.lengths[0],
            self.twiddles.size,
            self.batch * self.lengths[1],
            prod(self._extents),
        ]

        def build(block: Block, bindings: list[Value]) -> None:
            memories = [self._memory(x, n) for x, n in zip(bindings, sizes, strict=True)]
            _Kernel(self, *memories).build()

        add_executable(module, name, (self._extents[0], 1), 4, build)

    def _memory(self, binding: Value, size: int) -> Value:
        element = mlir.element_type(self.dtype)
        # A type with an offset that is known would lose that of the binding.
        type_ = mlir.parse_type(f"memref<{size}x{element}, strided<[1], offset: ?>>")
        return emit("stream.binding.subspan", binding, index(0), to=type_)

    def share(self) -> tuple[Value, Value]:
        """Return the first group of the workgroup, and the end of them."""
        return share(self._groups, self._share, 0)

    def scratch(self) -> tuple[Value, Value]:
        """Return the places of the two halves of the workgroup's scratch memory."""
        start = times(workgroup(0), self._extents[1])
        return start, plus(start, self._extents[1] // 2)


@dataclass(frozen=True)
class _Kernel:
    """The code of a workgroup, on memories of real numbers."""

    transform: Transform
    rows: Value
    twiddles: Value
    out: Value
    memory: Value

    def build(self) -> None:
        transform = self.transform
        places = transform.scratch()

        def work(group: Value) -> None:
            lanes = transform.lanes
            last = index(transform.batch - lanes)
            row = emit("arith.minsi", times(group, lanes), last)
            source, target = places
            self._read(row, source)
            start = 0
            for factor, rest, done in transform.passes:
                self._pass(factor, rest, done, start, source, target)
                start += 2 * rest * (factor - 1)
                source, target = target, source
            self._write(row, source)

        for_each(*transform.share(), work)

    # -- vectors --

    @property
    def _vector(self) -> Type:
        return mlir.parse_type(
            f"vector<{self.transform.lanes}x{mlir.element_type(self.transform.dtype)}>"
        )

    def _number(self, x: float) -> Value:
        return constant(np.full(self.transform.lanes, x, self.transform.dtype))

    def _load(self, memory: Value, place: Value) -> Value:
        return mlir.emit("vector.load", [memory, place], {}, [self._vector]).results[0]

    def _store(self, x: Value, memory: Value, place: Value) -> None:
        mlir.emit("vector.store", [x, memory, place], {}, [])

    def _part(self, half: Value, number: Value, part: int) -> Value:
        """The place of the vector of real (0) or imaginary (1) parts of a number."""
        lanes = self.transform.lanes
        return plus(emit("arith.addi", half, times(number, 2 * lanes)), part * lanes)

    def _complex(self, half: Value, number: Value) -> Complex:
        re, im = (self._load(self.memory, self._part(half, number, p)) for p in (0, 1))
        return re, im

    def _put(self, z: Complex, half: Value, number: Value) -> None:
        for part, x in enumerate(z):
            self._store(x, self.memory, self._part(half, number, part))

    # -- rows --

    def _read(self, row: Value, half: Value) -> None:
        """Read rows into memory: a vector for each number of theirs."""
        transform = self.transform
        length, _ = transform.lengths
        step = 2 if transform.kind == "RFFT" else 1
        zero = self._number(0)

        def block(start: Value) -> None:
            rows = self._of_rows(row, start, length)
            for i, x in enumerate(transposed([self._load(self.rows, p) for p in rows])):
                place = self._place(half, plus(start, i), step)
                self._store(x, self.memory, place)
                if step == 2:
                    self._store(zero, self.memory, plus(place, transform.lanes))

        self._blocks(length, block)
        if transform.kind == "IRFFT":
            self._complete(half)

    def _complete(self, half: Value) -> None:
        """Add the frequencies that are conjugates of others; those of their own count as real."""
        transform = self.transform
        zero = self._number(0)
        for own in {0, transform.n // 2} if transform.n % 2 == 0 else {0}:
            self._store(zero, self.memory, self._part(half, index(own), 1))

        def copy(number: Value) -> None:
            re, im = self._complex(half, emit("arith.subi", index(transform.n), number))
            self._put((re, emit("arith.negf", im)), half, number)

        for_each(index(transform.half), index(transform.n), copy)

    def _write(self, row: Value, half: Value) -> None:
        transform = self.transform
        _, length = transform.lengths
        step = 2 if transform.kind == "IRFFT" else 1

        def block(start: Value) -> None:
            places = [self._place(half, plus(start, i), step) for i in range(transform.lanes)]
            turned = transposed([self._load(self.memory, place) for place in places])
            for x, place in zip(turned, self._of_rows(row, start, length), strict=True):
                self._store(x, self.out, place)

        self._blocks(length, block)

    def _place(self, half: Value, number: Value, step: int) -> Value:
        return emit("arith.addi", half, times(number, step * self.transform.lanes))

    def _of_rows(self, row: Value, start: Value, length: int) -> list[Value]:
        """The places of element `start` of as many rows as there are lanes."""
        first = emit("arith.addi", times(row, length), start)
        return [plus(first, i * length) for i in range(self.transform.lanes)]

    def _blocks(self, length: int, block: Callable[[Value], None]) -> None:
        """Do something for the start of each block of a row; the last overlaps the one before."""
        lanes = self.transform.lanes
        last = index(length - lanes)
        count = index(-(-length // lanes))
        for_each(index(0), count, lambda i: block(emit("arith.minsi", times(i, lanes), last)))

    # -- passes --

    def _pass(
        self, factor: int, rest: int, done: int, start: int, source: Value, target: Value
    ) -> None:
        """Number q + done (p + rest j) of the source, for all j, gives numbers q + done (factor p +
        k) of the target, for all k.
        """

        def of_group(p: Value) -> None:
            turns = self._turns(p, start, factor) if rest > 1 else []

            def transform(q: Value) -> None:
                read = emit("arith.addi", q, times(p, done))
                numbers = [
                    self._complex(source, plus(read, done * rest * j)) for j in range(factor)
                ]
                found = _Butterfly(self._number, self.transform.is_inverse).of(numbers)
                write = emit("arith.addi", q, times(p, done * factor))
                for k, z in enumerate(found):
                    z = _product(z, turns[k - 1]) if k and turns else z
                    z = self._scaled(z) if rest == 1 and self.transform.is_inverse else z
                    self._put(z, target, plus(write, done * k))

            for_each(index(0), index(done), transform)

        for_each(index(0), index(rest), of_group)

    def _scaled(self, z: Complex) -> Complex:
        scale = self._number(1 / self.transform.n)
        re, im = (emit("arith.mulf", x, scale) for x in z)
        return re, im

    def _turns(self, p: Value, start: int, factor: int) -> list[Complex]:
        """The twiddle factors of group p."""
        first = plus(times(p, 2 * (factor - 1)), start)

        def number(i: int) -> Value:
            element = mlir.element_type(self.transform.dtype)
            place = [self.twiddles, plus(first, i)]
            scalar = mlir.emit("memref.load", place, {}, [element]).results[0]
            return spread(scalar, self.transform.lanes)

        return [(number(2 * k), number(2 * k + 1)) for k in range(factor - 1)]


# ---- arithmetic ----------------------------------------------------------------------------------


def _sum(x: Complex, y: Complex) -> Complex:
    return emit("arith.addf", x[0], y[0]), emit("arith.addf", x[1], y[1])


def _difference(x: Complex, y: Complex) -> Complex:
    return emit("arith.subf", x[0], y[0]), emit("arith.subf", x[1], y[1])


def _product(x: Complex, y: Complex) -> Complex:
    (a, b), (c, d) = x, y
    re = emit("math.fma", a, c, emit("arith.negf", emit("arith.mulf", b, d)))
    return re, emit("math.fma", a, d, emit("arith.mulf", b, c))


@dataclass(frozen=True)
class _Butterfly:
    """The transform of a few complex numbers."""

    number: Callable[[float], Value]
    is_inverse: bool

    def of(self, x: Sequence[Complex]) -> list[Complex]:
        n = len(x)
        if n == 1:
            return list(x)
        if n == 2:
            return [_sum(*x), _difference(*x)]
        if n % 2 == 0:
            return self._of_even(x)
        return self._of_odd(x)

    def _of_even(self, x: Sequence[Complex]) -> list[Complex]:
        """By the transforms of even and of odd numbers."""
        n = len(x)
        even, odd = self.of(x[::2]), self.of(x[1::2])
        turned = [self._turned(z, k, n) for k, z in enumerate(odd)]
        pairs = list(zip(even, turned, strict=True))
        return [_sum(*p) for p in pairs] + [_difference(*p) for p in pairs]

    def _turned(self, z: Complex, k: int, n: int) -> Complex:
        """Multiply by exp(-2 pi i k / n), for k < n / 2."""
        if k == 0:
            return z
        if 4 * k == n:
            return self._quarter(z)
        angle = 2 * np.pi * k / n
        sine = np.sin(angle) if self.is_inverse else -np.sin(angle)
        return _product(z, (self.number(np.cos(angle)), self.number(sine)))

    def _quarter(self, z: Complex) -> Complex:
        """Multiply by -i, or by i."""
        re, im = z
        if self.is_inverse:
            return emit("arith.negf", im), re
        return im, emit("arith.negf", re)

    def _of_odd(self, x: Sequence[Complex]) -> list[Complex]:
        """By sums and differences of the numbers j and n - j."""
        n = len(x)
        pairs = [(x[j], x[n - j]) for j in range(1, n // 2 + 1)]
        sums, differences = [_sum(*p) for p in pairs], [_difference(*p) for p in pairs]
        total = x[0]
        for z in sums:
            total = _sum(total, z)
        found = [total] * n
        for k in range(1, n // 2 + 1):
            angles = [2 * np.pi * (j * k % n) / n for j in range(1, n // 2 + 1)]
            even = self._combined(x[0], sums, [np.cos(a) for a in angles])
            odd = self._quarter(self._combined(None, differences, [np.sin(a) for a in angles]))
            found[k], found[n - k] = _sum(even, odd), _difference(even, odd)
        return found

    def _combined(
        self, start: Complex | None, numbers: Sequence[Complex], weights: Sequence[float]
    ) -> Complex:
        """A sum of complex numbers times real ones."""
        parts: list[Value] = []
        for part in (0, 1):
            total = None if start is None else start[part]
            for z, weight in zip(numbers, weights, strict=True):
                w = self.number(weight)
                if total is None:
                    total = emit("arith.mulf", z[part], w)
                else:
                    total = emit("math.fma", z[part], w, total)
            assert total is not None
            parts.append(total)
        return parts[0], parts[1]
