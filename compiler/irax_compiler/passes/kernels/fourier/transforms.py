"""The Fourier transforms for which there are kernels.

The transform of a long row, of n = n1 * n2 numbers, is that of the columns of the [n1, n2] matrix,
whose results are written as rows, a twiddle factor for each number, and that of the columns of the
[n2, n1] matrix of these (W. M. Gentleman and G. Sande, 1966). The second one can be in place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from math import prod
from operator import mul

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Type, Value, dtype_of, shape_of
from irax_compiler.ops.fft import Fft, real_dtype
from irax_compiler.passes.kernels.executables import SHARE, STACK, size_of_share
from irax_compiler.passes.rewriting import read_as

LANES = {"float32": 16, "float64": 8}
"""The elements of a vector, for the dtype of the parts of complex numbers."""
FACTORS = (8, 4, 2, 3, 5, 7, 11, 13)
"""The factors of lengths, of which there are passes."""
LONGEST = 8192
"""The longest transform whose memory, for all rows of a vector, is near a processor."""
SHORTEST_REAL = 160
"""The shortest rows of real numbers that are transformed in vectors of half the length."""
MOST_TURNS = 1 << 18
"""The most twiddle factors of a long row, which are constants of the program."""


def transforms_of(operation: Operation, workers: int = 1) -> list[Transform]:
    """Return the transforms that an operation is, one after the other; none if one of them has no
    kernel.
    """
    op = read_as(Fft, operation)
    if op is None or 0 in (*shape_of(operation.operands[0]), *shape_of(operation.results[0])):
        return []
    found = list(_of_axes(op, operation, workers))
    return found if all(x.has_kernel for x in found) else []


def has_kernels_for_rows(extents: tuple[int, ...], like: Value) -> bool:
    """Return True if there are kernels for the rows of a complex array, with parts as those of
    another, and if rows of real numbers are transformed sooner as complex ones than by a matrix.
    """
    dtype = real_dtype(dtype_of(like))
    rows = Transform(dtype, "FFT", extents[-1], prod(extents[:-1]), workers=1)
    found = _of_long_rows(rows)
    is_long = extents[-1] >= SHORTEST_REAL or not found[0].has_half_vectors
    return prod(extents) > 0 and is_long and all(x.has_kernel for x in found)


def _of_axes(op: Fft, operation: Operation, workers: int) -> Iterator[Transform]:
    """Yield the transforms of an operation's axes; of real numbers first, and to them last."""
    real_result = op.fft_type == "IRFFT"
    extents = shape_of(operation.operands[0] if real_result else operation.results[0])
    dtype = real_dtype(dtype_of(operation.results[0]))
    kind = "IFFT" if op.fft_type in ("IFFT", "IRFFT") else "FFT"
    others = [
        Transform(dtype, kind, n, prod(extents) // n, workers, inner, inner)
        for axis, n in enumerate(op.fft_length[:-1], len(extents) - op.rank)
        if (inner := prod(extents[axis + 1 :])) and n > 1
    ]
    rows = Transform(dtype, op.fft_type, op.fft_length[-1], prod(extents[:-1]), workers)
    last = [rows] if rows.has_kernel else _of_long_rows(rows)
    yield from [*others, *last] if real_result else [*last, *others]


def _of_long_rows(rows: Transform) -> list[Transform]:
    """Return the transforms of columns and of rows that one of long rows is, or itself. Vectors are
    half as long where there are too few columns for whole ones.
    """
    if not rows.is_complex or rows.n > MOST_TURNS:
        return [rows]
    return _of_columns(rows) or _of_columns(replace(rows, has_half_vectors=True)) or [rows]


def _of_columns(rows: Transform) -> list[Transform]:
    """Return the two transforms of columns that one of rows is, if these fill vectors."""
    n, lanes = rows.n, rows.lanes
    sizes = [d for d in range(lanes, n // lanes + 1) if n % d == 0]
    if not sizes:
        return []
    n1 = min(sizes, key=lambda d: (d % lanes != 0, abs(d * d - n)))
    n2 = n // n1
    return [
        replace(rows, n=n1, batch=rows.batch * n2, reads=n2, is_turned=True),
        replace(rows, n=n2, batch=rows.batch * n1, reads=n1, writes=n1),
    ]


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
    """Transforms of `batch` lines of n numbers, and the number of workers that share them.

    Lines are rows of an array, or columns of matrices that lie one after the other. The same line
    may be a row where it is read, and a column where it is written.
    """

    dtype: np.dtype
    """The dtype of real and imaginary parts."""
    kind: str
    """FFT, IFFT, RFFT or IRFFT."""
    n: int
    batch: int
    workers: int
    reads: int = 1
    """The columns of the matrices that lines are read from; 1 if they are rows."""
    writes: int = 1
    is_turned: bool = False
    """True if the results, those of the columns of a long row, are multiplied by twiddle factors.
    """
    has_half_vectors: bool = False

    @property
    def lanes(self) -> int:
        return LANES[self.dtype.name] // (2 if self.has_half_vectors else 1)

    @property
    def has_kernel(self) -> bool:
        """True if the length has small factors, and lines fill vectors."""
        has_rows = 1 in (self.reads, self.writes)
        shortest = self.lanes if has_rows else 1
        fits = self.lanes <= self.neighbours and shortest <= self.n <= LONGEST
        return fits and factors(self.n) is not None

    @property
    def neighbours(self) -> int:
        """The number of lines after which a vector of them cannot go on."""
        columns = max(self.reads, self.writes)
        return self.batch if columns == 1 else columns

    @property
    def is_complex(self) -> bool:
        """True if the transform is of complex numbers, to as many."""
        return self.kind in ("FFT", "IFFT")

    @property
    def is_inverse(self) -> bool:
        return self.kind in ("IFFT", "IRFFT")

    @property
    def half(self) -> int:
        """The number of frequencies of real numbers."""
        return self.n // 2 + 1

    @property
    def lengths(self) -> tuple[int, int]:
        """The numbers of real numbers in a line of the array, and of the result."""
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
        group, which is 1; then those of the columns of a long row.
        """
        tables = [self._roots(f * m, m, range(1, f)) for f, m, _ in self.passes]
        if self.is_turned:
            tables.append(self._roots(self.n * self.reads, self.n, range(self.reads)))
        both = [np.stack([np.real(t), np.imag(t)], -1).reshape(-1) for t in tables]
        return np.concatenate(both).astype(self.dtype)

    def _roots(self, n: int, rows: int, columns: range) -> np.ndarray:
        """The powers of the n-th root of unity: products of the numbers of rows and columns."""
        sign = 2j if self.is_inverse else -2j
        return np.exp(sign * np.pi / n * (np.outer(np.arange(rows), np.array(columns)) % n))

    @property
    def groups(self) -> int:
        """The number of vectors of lines."""
        return self.batch // self.neighbours * self.groups_of_neighbours

    @property
    def groups_of_neighbours(self) -> int:
        """The number of vectors of the lines that are neighbours."""
        return -(-self.neighbours // self.lanes)

    @property
    def share(self) -> int:
        """The number of groups of a workgroup."""
        operations = 5 * self.batch * self.n * self.n.bit_length()
        return size_of_share(self.groups, min(self.workers, operations // SHARE))

    @property
    def extents(self) -> tuple[int, int]:
        """The number of workgroups, and the numbers in the scratch memory of each."""
        return -(-self.groups // self.share), 2 * 2 * self.n * self.lanes

    @property
    def is_on_stack(self) -> bool:
        """True if workgroups have their scratch memory on the stack."""
        return self.extents[1] * self.dtype.itemsize <= STACK

    @property
    def scratch_types(self) -> list[Type]:
        """The type of the scratch memory of all workgroups, a further result, if there is any."""
        return [] if self.is_on_stack else [mlir.tensor_type(self.extents, self.dtype)]

    @property
    def is_in_place(self) -> bool:
        """True if the result may be in the array's memory: each group reads what it writes, and no
        other group does.
        """
        is_same = self.is_complex and self.reads == self.writes
        return is_same and self.neighbours % self.lanes == 0
