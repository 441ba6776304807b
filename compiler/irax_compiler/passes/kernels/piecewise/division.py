"""The division of results into pieces, of which each is computed by one expression."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from heapq import heappop, heappush
from math import prod
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, shape_of
from irax_compiler.passes.core import reached
from irax_compiler.passes.kernels.elementwise.pieces import Computed, Constant, Piece, Read, Term
from irax_compiler.passes.kernels.kernel import LONG
from irax_compiler.passes.kernels.piecewise.places import (
    Box,
    Divided,
    Move,
    Places,
    axes_of,
    is_joint,
    move_of,
    view,
)
from irax_compiler.passes.kernels.views import View, contiguous

MOST = 64
"""The most pieces of a kernel."""
SMALL = 8
"""The least number of parts of a result of that size that may compute an element twice."""


class Repeated(Exception):
    """Operations would be computed several times for the elements of a large piece."""

    def __init__(self, results: Sequence[Value]) -> None:
        super().__init__(results)
        self.results = results


class TooLong(Exception):
    """A result has more pieces, or they more operations, than a kernel is written for."""


class Known:
    """Answers about values that do not change, which searches ask for many times."""

    def __init__(self) -> None:
        self.is_joint: Callable[[Value], bool] = cache(is_joint)
        self.is_splat: Callable[[Value], bool] = cache(lambda x: mlir.splat(x) is not None)
        self.shape: Callable[[Value], tuple[int, ...]] = cache(shape_of)
        self.forget_operands()

    def forget_operands(self) -> None:
        """Begin anew with what depends on the operands of operations: some have others now."""
        self.operands: Callable[[Value], tuple[Value, ...]] = cache(_operands)
        self.move: Callable[[Value], Move | None] = cache(move_of)


def _operands(x: Value) -> tuple[Value, ...]:
    operation = mlir.definition(x)
    return () if operation is None else tuple(operation.operands)


@dataclass
class Grown:
    """The values that a kernel may compute."""

    numbers: Mapping[Value, int]
    """The numbers of a block's operations in their order, by their results."""
    about: Known = field(default_factory=Known)
    """Answers about the block's values."""
    members: set[Value] = field(default_factory=set)
    """The results of elementwise operations."""
    inside: set[Value] = field(default_factory=set)
    """These, and values made of others by moves of elements, which others do not use."""
    given: list[Value] = field(default_factory=list)
    """The values that others use."""


Source = tuple[Value, Places]
"""A value at some places."""


@dataclass
class _Expression:
    """The expression of a box: the values at some places that its elements are computed from."""

    box: Box
    grown: Grown
    moves: Callable[[Value], Move | None]
    """Returns how the elements of a value are moved, if it is not computed or read."""
    is_small: bool
    operands: dict[Source, list[Source]] = field(default_factory=dict)
    """The sources that each computed one is computed from, members or what is read."""
    terms: list[Term] = field(default_factory=list)
    known: dict[Any, int] = field(default_factory=dict)
    """The numbers of terms."""
    whole: dict[Places, bool] = field(default_factory=dict)
    """If the box has other places for each of its elements."""

    def find(self, ends: Sequence[Source]) -> None:
        """Find the operands of all that is computed for some members, from the last one on: then
        the places at which a value is needed are known when it is looked at.

        Raises:
            Divided: not all elements are computed in one way.
            Repeated: operations would be computed several times.
        """
        repeated: list[Value] = []
        try:
            self._find(ends, repeated)
        except Divided:
            if not repeated:
                raise
        if repeated:
            raise Repeated(repeated)

    def _find(self, ends: Sequence[Source], repeated: list[Value]) -> None:
        """Find operands, but for values that would be computed several times. They are listed: a
        search goes on without all of these, and grows otherwise in what they are computed from.
        """
        members, numbers, about = self.grown.members, self.grown.numbers, self.grown.about
        needed: dict[Value, dict[Places, None]] = {}
        others: set[Value] = set()
        pending: list[tuple[int, Value]] = []

        def need(sources: Sequence[Source]) -> None:
            for x, places in sources:
                if x in needed:
                    needed[x][places] = None
                elif x in members:
                    needed[x] = {places: None}
                    heappush(pending, (-numbers[x], x))

        need(ends)
        while pending:
            _, x = heappop(pending)
            if self._is_repeated(needed[x]):
                if x not in others:
                    repeated.append(x)
                    others |= reached([x], self._operands_inside)
                continue
            for places in needed[x]:
                found = [
                    self.source(y, places if about.shape(y) else ()) for y in about.operands(x)
                ]
                self.operands[x, places] = found
                need(found)

    def _operands_inside(self, x: Value) -> list[Value]:
        return [y for y in self.grown.about.operands(x) if y in self.grown.inside]

    def _is_repeated(self, needed: Mapping[Places, None]) -> bool:
        """True for an operation that would be computed too often, at the places that are needed."""
        is_once = len(needed) == 1 and all(map(self._is_whole, needed))
        return not is_once and (not self.is_small or len(self.operands) > LONG)

    def _is_whole(self, places: Places) -> bool:
        """True if the box has other places for each of its elements."""
        if places not in self.whole:
            self.whole[places] = self.box.axes <= axes_of(places)
        return self.whole[places]

    def source(self, x: Value, places: Places) -> Source:
        """Return the source of a value's elements at some places: what they were before moves."""
        while (move := self.moves(x)) is not None:
            further = move(places, self.box)
            if further is None:
                break
            x, places = further
        return x, places

    def term(self, source: Source) -> int:
        """Return the number of the term that computes or reads a source."""
        x, places = source
        if self.grown.about.is_splat(x):
            return self._number((x,), lambda: Constant(x))
        if x not in self.grown.members:
            seen = view(x, places, self.box)
            return self._number((x.type, seen), lambda: Read(x, seen))
        if source not in self.known:
            operation = mlir.definition(x)
            assert operation is not None
            operands = tuple(map(self.term, self.operands[source]))
            self._number(source, lambda: Computed(operation, operands))
        return self.known[source]

    def _number(self, key: Any, make: Callable[[], Term]) -> int:
        if key not in self.known:
            self.known[key] = len(self.terms)
            self.terms.append(make())
        return self.known[key]


def _check(pieces: Sequence[Piece], more: int) -> None:
    """Raise TooLong for pieces that are too many for a kernel with some more, or too long."""
    operations = sum(len(piece.operations) for piece in pieces)
    if len(pieces) + more > MOST or operations > LONG:
        raise TooLong


def _largest(boxes: list[Box]) -> Box:
    """Take the largest box from a list. It is the first to show that an operation would be
    computed several times: what small ones compute several times may be very much.
    """
    return boxes.pop(max(range(len(boxes)), key=lambda i: boxes[i].size))


@dataclass(frozen=True)
class Pieces:
    """The pieces of results of one shape."""

    shape: tuple[int, ...]
    grown: Grown

    @cached_property
    def _moves(self) -> Callable[[Value], Move | None]:
        return cache(self._move_of)

    def _move_of(self, x: Value) -> Move | None:
        """Return how the elements of a value are moved, if it is not computed or read."""
        about = self.grown.about
        if x in self.grown.members or about.is_splat(x):
            return None
        return about.move(x) if x in self.grown.inside or not about.is_joint(x) else None

    def bands(self) -> list[list[Piece]]:
        """Return the pieces in bands: those that are side by side in the same rows.

        Raises:
            Repeated: operations would be computed several times.
            TooLong: there are too many, or too many operations in them.
        """
        found: dict[Box, list[Piece]] = {}
        pending = [Box((0,) * len(self.shape), self.shape)]
        while pending:
            rows = _largest(pending)
            try:
                found[rows] = self._side_by_side(rows)
            except Divided as divided:
                pending += rows.divided(divided.axis, divided.at)
            _check([piece for band in found.values() for piece in band], len(pending))
        bands = [found[rows] for rows in sorted(found, key=lambda rows: rows.start)]
        return [[band[0].merged()] if len(band) == 1 else band for band in bands]

    def _side_by_side(self, rows: Box) -> list[Piece]:
        """Return the pieces of rows.

        Raises:
            Divided: there are parts of some rows alone.
        """
        last = len(self.shape) - 1
        found: dict[Box, Piece] = {}
        pending = [rows]
        while pending:
            box = _largest(pending)
            try:
                found[box] = self._piece(box)
            except Divided as divided:
                if divided.axis != last:
                    raise
                pending += box.divided(last, divided.at)
            _check([*found.values()], len(pending))
        return [found[box] for box in sorted(found, key=lambda box: box.start)]

    def _piece(self, box: Box) -> Piece:
        is_small = box.size * SMALL <= prod(self.shape)
        expression = _Expression(box, self.grown, self._moves, is_small)
        ends = [expression.source(x, box.places()) for x in self.grown.given]
        expression.find(ends)
        strides = contiguous(self.shape)
        start = sum(np.multiply(box.start, strides).tolist())
        writes = [
            (expression.term(end), View(x, start, strides))
            for x, end in zip(self.grown.given, ends, strict=True)
        ]
        return Piece(box.extents, expression.terms, writes)
