"""Places: the elements of a value that the elements of a box are computed from."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops import shape, slicing
from irax_compiler.ops.indexing.dynamic_slices import JOINTS, DynamicUpdateSlice
from irax_compiler.passes.kernels.views import View
from irax_compiler.passes.rewriting import read_as, read_named

_KNOWN = frozenset(
    (
        *(slicing.Slice.name, slicing.Reverse.name, shape.Transpose.name, shape.Reshape.name),
        *(shape.BroadcastInDim.name, slicing.Pad.name, slicing.Concatenate.name),
        DynamicUpdateSlice.name,
    )
)
"""The names of the operations that move elements in ways that are known here."""


@dataclass(frozen=True)
class Box:
    """Neighbouring elements of a result: a part of each of its dimensions."""

    start: tuple[int, ...]
    extents: tuple[int, ...]

    @property
    def size(self) -> int:
        return prod(self.extents)

    @property
    def axes(self) -> frozenset[int]:
        """The axes along which it has several elements."""
        return frozenset(axis for axis, extent in enumerate(self.extents) if extent > 1)

    def places(self) -> Places:
        """The places of the box in the result itself."""
        return tuple(Line(start, axis, 1) for axis, start in enumerate(self.start))

    def divided(self, axis: int, at: int) -> tuple[Box, Box]:
        """Return the parts of the box before and from an index of an axis on."""
        start, extents = list(self.start), list(self.extents)
        start[axis] += at
        extents[axis] -= at
        rest = Box(tuple(start), tuple(extents))
        extents[axis] = at
        return Box(self.start, tuple(extents)), rest


class Line(NamedTuple):
    """The indices along a dimension of a value: they are a start, and as many steps as the index of
    the box's axis; or the start alone, for all elements.
    """

    start: int
    axis: int | None
    step: int


Places = tuple[Line, ...]
"""A line for each dimension of a value."""

_ONE = Line(0, None, 0)


class Divided(Exception):
    """The elements of a box are in several parts, which meet at an index of an axis."""

    def __init__(self, axis: int, at: int) -> None:
        super().__init__(axis, at)
        self.axis, self.at = axis, at


def view(x: Value, places: Places, box: Box) -> View:
    """Return the view of an array that has the elements of a value at some places."""
    base = View.of(x)
    start, strides = base.start, [0] * len(box.extents)
    for line, stride in zip(places, base.strides, strict=True):
        start += line.start * stride
        if line.axis is not None:
            strides[line.axis] += line.step * stride
    return View(base.array, start, tuple(strides))


Move = Callable[[Places, Box], "tuple[Value, Places] | None"]
"""Returns the operand that has the elements of a result at some places, and their places there;
None where it is not known. Raises Divided if not all of the elements are in one operand."""


def move_of(x: Value) -> Move | None:
    """Return where the operation that makes a value takes elements from; None if it does not move
    elements, or is not known here.
    """
    source = mlir.definition(x)
    op = None if source is None else read_named(_KNOWN, source)
    if source is None or op is None:
        return None
    if source.name in JOINTS and not is_joint(x):
        return None
    first, extents = source.operands[0], shape_of(source.operands[0])
    match op:
        case slicing.Slice():
            steps = list(zip(op.start_indices, op.strides, strict=True))
            return lambda places, _: (first, _sliced(steps, places))
        case slicing.Reverse():
            return lambda places, _: (first, _reversed(op.dimensions, extents, places))
        case shape.Transpose():
            order = sorted(range(len(extents)), key=op.permutation.__getitem__)
            return lambda places, _: (first, tuple(places[d] for d in order))
        case shape.BroadcastInDim():
            pairs = list(zip(op.broadcast_dimensions, extents, strict=True))
            return lambda places, _: (
                first,
                tuple(_ONE if n == 1 else places[d] for d, n in pairs),
            )
        case shape.Reshape():
            return _reshape(first, shape_of(x), extents)
        case slicing.Pad():
            return _joint(op.edge_padding_low, first, source.operands[1], is_number=True)
        case slicing.Concatenate():
            return _concatenation(op.dimension, list(source.operands))
        case DynamicUpdateSlice():
            starts = starts_of(source)
            assert starts is not None
            return _joint(starts, source.operands[1], first)
    return None


def _reshape(first: Value, before: Sequence[int], after: Sequence[int]) -> Move:
    def move(places: Places, box: Box) -> tuple[Value, Places] | None:
        lines = _reshaped(before, places, after)
        return None if lines is None else (first, lines)

    return move


def _joint(low: Sequence[int], inner: Value, outer: Value, is_number: bool = False) -> Move:
    """Return the move of an array that contains another from some indices on."""
    bounds = [(n, n + extent) for n, extent in zip(low, shape_of(inner), strict=True)]

    def move(places: Places, box: Box) -> tuple[Value, Places]:
        at = _within(bounds, places, box)
        if at is not None:
            return inner, at
        return outer, () if is_number else places

    return move


def _concatenation(dimension: int, parts: Sequence[Value]) -> Move:
    ends = list(itertools.accumulate(shape_of(x)[dimension] for x in parts))

    def move(places: Places, box: Box) -> tuple[Value, Places]:
        at = places[dimension]
        i = bisect_right(ends, min(_ends(at, box)))
        begin = ends[i - 1] if i else 0
        _part(at, (begin, ends[i]), box)
        line = Line(at.start - begin, at.axis, at.step)
        return parts[i], (*places[:dimension], line, *places[dimension + 1 :])

    return move


def is_joint(x: Value) -> bool:
    """True for an array that is put together of whole parts, at places that are known."""
    source = mlir.definition(x)
    if source is None or source.name not in JOINTS:
        return False
    if source.name == DynamicUpdateSlice.name:
        return starts_of(source) is not None
    pad = read_as(slicing.Pad, source)
    return pad is None or not any(pad.interior_padding)


def starts_of(update: Operation) -> list[int] | None:
    """Return where an update begins, if that is known."""
    found = [x for x in map(mlir.splat, update.operands[2:]) if x is not None]
    room = zip(*(shape_of(x) for x in update.operands[:2]), strict=True)
    if len(found) < len(shape_of(update.operands[0])):
        return None
    return [min(max(int(x), 0), n - m) for x, (n, m) in zip(found, room, strict=True)]


def _sliced(steps: Sequence[tuple[int, int]], places: Places) -> Places:
    lines = zip(steps, places, strict=True)
    return tuple(Line(n + s * a.start, a.axis, s * a.step) for (n, s), a in lines)


def _reversed(dimensions: Sequence[int], extents: Sequence[int], places: Places) -> Places:
    return tuple(
        Line(extents[d] - 1 - line.start, line.axis, -line.step) if d in dimensions else line
        for d, line in enumerate(places)
    )


def _reshaped(before: Sequence[int], places: Places, after: Sequence[int]) -> Places | None:
    """Return places in another shape, which differs in dimensions of one element alone."""
    if [n for n in before if n != 1] != [n for n in after if n != 1]:
        return None
    rest = iter([line for n, line in zip(before, places, strict=True) if n != 1])
    return tuple(_ONE if n == 1 else next(rest) for n in after)


def _within(bounds: Sequence[tuple[int, int]], places: Places, box: Box) -> Places | None:
    """Return places in an array that is part of a larger one, between some indices; None if they
    are outside of it.
    """
    for line, (begin, end) in zip(places, bounds, strict=True):
        first, last = sorted(_ends(line, box))
        if last < begin or first >= end:
            return None
    for line, bound in zip(places, bounds, strict=True):
        _part(line, bound, box)
    lines = zip(places, bounds, strict=True)
    return tuple(Line(line.start - begin, line.axis, line.step) for line, (begin, _) in lines)


def _part(line: Line, bounds: tuple[int, int], box: Box) -> None:
    """Check that all indices of a line are within bounds, if some are.

    Raises:
        Divided: it has others.
    """
    first, last = _ends(line, box)
    for bound in bounds:
        if line.axis is not None and (first < bound) != (last < bound):
            at = bound - first if line.step > 0 else first - bound + 1
            raise Divided(line.axis, -(-at // abs(line.step)))


def _ends(line: Line, box: Box) -> tuple[int, int]:
    """Return the first and the last index of a line."""
    steps = 0 if line.axis is None else box.extents[line.axis] - 1
    return line.start, line.start + steps * line.step


def axes_of(places: Places) -> frozenset[int | None]:
    """Return the axes of a box along which there are other places for each of its elements."""
    return frozenset(line.axis for line in places if line.step)
