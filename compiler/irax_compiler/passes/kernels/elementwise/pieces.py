"""Pieces: boxes of results, of which each is computed by one expression for all of its elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.passes.kernels.kernel import VECTOR
from irax_compiler.passes.kernels.loops.memory import held_dtype
from irax_compiler.passes.kernels.views import View, arrays_of, axes
from irax_compiler.sizes import InconclusiveDimensionOperation, Size

APART = 12
"""The most vectors that are read for one vector of elements."""


@dataclass(frozen=True)
class Constant:
    """A number for all elements."""

    x: Value


@dataclass(frozen=True)
class Read:
    """Elements of an array, or of places."""

    x: Value
    """The value that has the dtype of the elements."""
    view: View


@dataclass(frozen=True)
class Computed:
    """The result of an operation on other terms."""

    operation: Operation
    operands: tuple[int, ...]

    @property
    def x(self) -> Value:
        """The value of the operation."""
        return self.operation.results[0]


Term = Constant | Read | Computed


@dataclass(frozen=True)
class Piece:
    """A box of results, and the terms that compute its elements, operands first. A kernel computes
    vectors of elements along rows, the last dimension; of rows that are shorter than a vector it
    computes as many as a vector has elements at a time.
    """

    extents: tuple[Any, ...]
    terms: list[Term]
    writes: list[tuple[int, View]]
    """For each result, the term that is written, and where to."""

    @classmethod
    def of(
        cls,
        extents: Sequence[Any],
        operations: Sequence[Operation],
        views: Mapping[Value, View],
        writes: Sequence[tuple[Value, View]],
    ) -> Piece:
        """Return the piece of values of a shape that operations compute, operands first, from
        values that are read as views, and from constants.
        """
        terms: list[Term] = [Read(x, view) for x, view in views.items()]
        numbers: dict[Value, int] = {x: number for number, x in enumerate(views)}

        def number_of(x: Value) -> int:
            if x not in numbers:
                numbers[x] = len(terms)
                terms.append(Constant(x))
            return numbers[x]

        for operation in operations:
            operands = tuple(map(number_of, operation.operands))
            numbers[operation.results[0]] = len(terms)
            terms.append(Computed(operation, operands))
        return cls(tuple(extents), terms, [(number_of(x), view) for x, view in writes]).merged()

    def merged(self) -> Piece:
        """Return the piece with dimensions as one where all arrays allow that."""
        views = [*(term.view for term in self.reads), *(view for _, view in self.writes)]
        found = axes(self.extents, [view.strides for view in views])
        if not found:
            return self

        def over(view: View) -> View:
            return View(view.array, view.start, tuple(view.strides[a.last] for a in found))

        return Piece(
            tuple(axis.extent for axis in found),
            [Read(t.x, over(t.view)) if isinstance(t, Read) else t for t in self.terms],
            [(number, over(view)) for number, view in self.writes],
        )

    @property
    def reads(self) -> list[Read]:
        return [term for term in self.terms if isinstance(term, Read)]

    @property
    def arrays(self) -> list[Value]:
        """The arrays that are read."""
        return arrays_of(term.view for term in self.reads)

    @property
    def operations(self) -> list[Operation]:
        return [term.operation for term in self.terms if isinstance(term, Computed)]

    # ---- steps -----------------------------------------------------------------------------------

    @cached_property
    def _widest(self) -> int:
        """The number of elements of a vector of bytes that is as large as the processor's."""
        return VECTOR // max(held_dtype(term.x).itemsize for term in self.terms)

    @cached_property
    def is_of_short_rows(self) -> bool:
        """True if rows are shorter than a vector, and there are enough of them, which are written
        one after the other.
        """
        if not self.extents[-1] < self._widest or not self.extents[:-1]:
            return False
        in_order = (self.extents[-1], 1)
        is_in_order = all(view.strides[-2:] == in_order for _, view in self.writes)
        return is_in_order and self.extents[-2] >= self._widest

    @cached_property
    def is_of_whole_vectors(self) -> bool:
        """True if a row, or several that are short, have the elements of a vector."""
        return self.is_of_short_rows or not self.extents[-1] < self._widest

    @cached_property
    def _most(self) -> int:
        """The elements of the largest vector, a power of two, that a step may compute."""
        if self.is_of_whole_vectors:
            return self._widest
        return 1 << (self.extents[-1].bit_length() - 1)

    @cached_property
    def lanes(self) -> int:
        """The number of elements of a vector: one if few vectors do not hold the elements of one
        that is read, or if those of results are apart.
        """
        is_readable = all(self.is_readable(term.view) for term in self.reads)
        return self._most if is_readable and self.is_writable else 1

    @property
    def stepped(self) -> int:
        """The dimension along which a step has the elements of a vector."""
        return len(self.extents) - (2 if self.is_of_short_rows else 1)

    @property
    def vectors(self) -> Any:
        """The number of vectors of a step: one, or the elements of a short row."""
        return self.extents[-1] if self.is_of_short_rows else 1

    def offsets(self, view: View, vector: int) -> np.ndarray:
        """Return the distances of a vector's elements from the place where a step begins."""
        return self._offsets(view, vector, self.lanes)

    def _offsets(self, view: View, vector: int, lanes: int) -> np.ndarray:
        strides = view.strides[self.stepped :]
        if any(isinstance(n, Size) for n in strides):
            raise InconclusiveDimensionOperation("the distances within a vector are not known")
        number = vector * lanes + np.arange(lanes)
        if not self.is_of_short_rows:
            return number * strides[0]
        row, place = np.divmod(number, self.extents[-1])
        return row * strides[0] + place * strides[1]

    def is_readable(self, view: View) -> bool:
        """True if few vectors have the elements of each vector."""
        return view.array is None or all(
            np.ptp(self._offsets(view, vector, self._most)) < APART * self._most
            for vector in range(self.vectors)
        )

    @property
    def is_writable(self) -> bool:
        """True if vectors of results are consecutive elements, or are when they are interleaved."""
        return self.is_interleaved or all(view.strides[-1] == 1 for _, view in self.writes)

    @property
    def is_interleaved(self) -> bool:
        """True if results are numbers whose elements are in turns in one array."""
        views = [view for _, view in self.writes]
        count, array = len(views), views[0].array
        return (
            count > 1
            and array is not None
            and dtype_of(array).kind not in "bc"
            and all(view.array == array and view.strides[-1] == count for view in views)
            and [view.start for view in views] == list(range(count))
        )
