"""Views of arrays: values whose elements are those of another array, in another order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from operator import mul
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, shape_of
from irax_compiler.ops import shape, slicing
from irax_compiler.ops.core import Op
from irax_compiler.ops.registers import index
from irax_compiler.passes.kernels.code.places import moved
from irax_compiler.passes.rewriting import read_named
from irax_compiler.sizes import Size

Place = dict[int, Value]
"""The place of an element along dimensions, by their numbers; along others it is the first."""


@dataclass(frozen=True)
class View:
    """The place in an array of each element of a value."""

    array: Value | None
    """The array; None stands for the place itself, as of an iota."""
    start: Any
    """The place of the first element."""
    strides: tuple[Any, ...]
    """For each dimension of the value, the distance in the array between neighbours."""

    @classmethod
    def plain(cls, x: Value) -> View:
        """Return the view of a value as an array."""
        return cls(x, 0, contiguous(shape_of(x)))

    @classmethod
    def of(cls, x: Value) -> View:
        """Return the view of the array that operations make a value of by moving its elements."""
        source = mlir.definition(x)
        op = None if source is None else read_named(_NAMES, source)
        if isinstance(op, shape.Iota) and op.dtype.kind != "c":
            at = op.iota_dimension
            return cls(None, 0, tuple(int(d == at) for d in range(len(op.shape))))
        if source is None or not isinstance(op, _MOVES) or 0 in shape_of(source.operands[0]):
            return cls.plain(x)
        (before,) = source.operands
        moved = cls.of(before)._moved(op, shape_of(before))
        return cls.plain(x) if moved is None else moved

    def _moved(self, op: Op, extents: Sequence[int]) -> View | None:
        """Return the view of what an op makes of a value of a shape."""
        start, steps = self.start, list(self.strides)
        match op:
            case shape.Transpose():
                steps = [steps[d] for d in op.permutation]
            case shape.BroadcastInDim():
                along = zip(op.broadcast_dimensions, extents, steps, strict=True)
                known = {d: step for d, n, step in along if n != 1}
                steps = [known.get(d, 0) for d in range(len(op.shape))]
            case slicing.Slice():
                start += sum(map(mul, op.start_indices, steps))
                steps = [a * b for a, b in zip(op.strides, steps, strict=True)]
            case slicing.Reverse():
                start += sum((extents[d] - 1) * steps[d] for d in op.dimensions)
                steps = [-n if d in op.dimensions else n for d, n in enumerate(steps)]
            case shape.Reshape():
                return self.reshaped(extents, op.shape)
        return View(self.array, start, tuple(steps))

    def reshaped(self, extents: Sequence[int], to: Sequence[int]) -> View | None:
        """Return the view in another shape, if strides can describe it. Where sizes are not known,
        it is that of a whole array.
        """
        if any(isinstance(n, Size) for n in (*extents, *to)):
            is_plain = self.start == 0 and self.strides == contiguous(extents)
            return View(self.array, 0, contiguous(to)) if is_plain else None
        one = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), extents, self.strides)
        try:
            strides = np.reshape(one, to, copy=False).strides
        except ValueError:
            return None
        return View(self.array, self.start, tuple(strides))

    def line(self, extents: Sequence[int]) -> Any:
        """Return the number of elements that are neighbours in the array, or all the same: those of
        the last dimensions of a value of a shape.
        """
        pairs = [(n, step) for n, step in zip(extents, self.strides, strict=True) if n != 1]
        is_one, found = bool(pairs) and pairs[-1][1] == 0, 1
        for n, step in reversed(pairs):
            if step != (0 if is_one else found):
                break
            found *= n
        return found

    def offset(self, place: Place) -> Value:
        """Build the place in the array of the element at a place."""
        found = index(self.start)
        for dimension, at in place.items():
            found = moved(found, at, self.strides[dimension])
        return found

    def described(self, x: Value, arrays: Mapping[Value, int]) -> Hashable:
        """Return a description of the view for a value, by the numbers of arrays."""
        array = None if self.array is None else (arrays[self.array], self.array.type)
        return x.type, array, self.strides, self.start

    def is_in_order(self, extents: Sequence[int]) -> bool:
        """True if the elements of a value of a shape are neighbours, in order, or all the same."""
        if self.array is None:
            return False
        triples = zip(extents, self.strides, contiguous(extents), strict=True)
        steps = [(ours, theirs) for n, ours, theirs in triples if n != 1]
        return all(x == y for x, y in steps) or all(x == 0 for x, _ in steps)


_MOVES = (shape.Transpose, shape.BroadcastInDim, shape.Reshape, slicing.Slice, slicing.Reverse)
_NAMES = frozenset(kind.name for kind in (*_MOVES, shape.Iota))


def arrays_of(views: Iterable[View]) -> list[Value]:
    """Return the arrays of views, each once."""
    return list(dict.fromkeys(view.array for view in views if view.array is not None))


def contiguous(extents: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of an array of a shape."""
    return tuple(prod(extents[d + 1 :]) for d in range(len(extents)))


@dataclass(frozen=True)
class Axis:
    """Consecutive dimensions that are walked through as one."""

    extent: Any
    last: int
    """The innermost of the dimensions: its stride is that of the axis."""


def axes(
    extents: Sequence[Any], strides: Sequence[Sequence[Any]], kinds: Sequence[object] | None = None
) -> list[Axis]:
    """Return the axes of a shape, outermost first; dimensions of size 1 are in none. Dimensions are
    together if arrays of all these strides are read over them as over one, and if they are of one
    kind.
    """
    found: list[Axis] = []
    for d, extent in reversed(list(enumerate(extents))):
        if extent == 1:
            continue
        inner = found[-1] if found else None
        if (
            inner is not None
            and (kinds is None or kinds[d] == kinds[inner.last])
            and all(own[d] == own[inner.last] * inner.extent for own in strides)
        ):
            found[-1] = Axis(extent * inner.extent, inner.last)
        else:
            found.append(Axis(extent, d))
    return found[::-1]
