"""The domain of a reduction: the elements that it folds, and how arrays are read over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Value, shape_of
from irax_compiler.ops import shape
from irax_compiler.ops.size_code import usual
from irax_compiler.passes.kernels.views import Axis, View, axes, contiguous
from irax_compiler.passes.rewriting import read_as
from irax_compiler.sizes import Size

LINE = 32
"""The fewest neighbours in memory that are read by vectors."""


@dataclass(frozen=True)
class Domain:
    """The shape of the array that is reduced, and the dimensions that are."""

    extents: tuple[Any, ...]
    reduced: tuple[int, ...]

    @property
    def kept(self) -> tuple[int, ...]:
        return tuple(d for d in range(len(self.extents)) if d not in self.reduced)

    @property
    def is_sized(self) -> bool:
        """True if sizes are not known."""
        return any(isinstance(n, Size) for n in self.extents)

    @property
    def usual(self) -> Domain:
        """The domain for usual sizes, where these are not known."""
        return Domain(tuple(map(usual, self.extents)), self.reduced)

    @property
    def elements(self) -> int:
        return prod(self.extents)

    @property
    def results(self) -> int:
        """The number of elements that are left."""
        return prod(self.extents[d] for d in self.kept)

    @property
    def innermost(self) -> int:
        """The last dimension of more than one element."""
        return max(d for d, n in enumerate(self.extents) if n != 1)

    def is_whole(self, x: Value) -> bool:
        """True for a value with an element for each of the domain."""
        return shape_of(x) == self.extents

    def is_folded(self, x: Value) -> bool:
        """True for a value with an element for each result, with or without the dimensions that
        were reduced.
        """
        return self.places(shape_of(x)) is not None

    def places(self, extents: Sequence[int]) -> tuple[int, ...] | None:
        """Return the dimension of the domain for each dimension of a folded value."""
        if tuple(extents) == tuple(self.extents[d] for d in self.kept):
            return self.kept
        ones = tuple(1 if d in self.reduced else n for d, n in enumerate(self.extents))
        return tuple(range(len(ones))) if tuple(extents) == ones else None

    # ---- reads -----------------------------------------------------------------------------------

    def view(self, x: Value) -> View | None:
        """Return the view of the array whose elements a value has in another order, if a line of
        them is long enough to be read by vectors; otherwise the view in order.
        """
        dimensions, view, extents = self._dimensions(x), View.of(x), shape_of(x)
        if dimensions is None or view.array is None or not extents:
            return self.view_in_order(x)
        if usual(view.line(extents)) < min(LINE, usual(prod(extents))):
            return self.view_in_order(x)
        return View(view.array, view.start, self._strides(dimensions, view.strides))

    def view_in_order(self, x: Value) -> View | None:
        """Return the view of a whole or folded value, or of a number, or of the array which is
        broadcast to it, if one is. None if its elements are in another order.
        """
        dimensions = self._dimensions(x)
        if dimensions is None:
            return None
        source = mlir.definition(x)
        op = None if source is None else read_as(shape.Iota, source)
        if op is not None:
            return View(None, 0, self._strides([dimensions[op.iota_dimension]], [1]))
        op = None if source is None else read_as(shape.BroadcastInDim, source)
        if source is not None and op is not None:
            if list(op.broadcast_dimensions) != sorted(op.broadcast_dimensions):
                return None
            x, dimensions = source.operands[0], [dimensions[d] for d in op.broadcast_dimensions]
        extents = shape_of(x)
        steps = [0 if n == 1 else d for n, d in zip(extents, contiguous(extents), strict=True)]
        return View(x, 0, self._strides(dimensions, steps))

    def _dimensions(self, x: Value) -> Sequence[int] | None:
        extents = shape_of(x)
        if extents == self.extents:
            return range(len(extents))
        return self.places(extents) if extents else ()

    def _strides(self, dimensions: Sequence[int], steps: Sequence[int]) -> tuple[int, ...]:
        known = dict(zip(dimensions, steps, strict=True))
        return tuple(known.get(d, 0) for d in range(len(self.extents)))

    # ---- axes ------------------------------------------------------------------------------------

    def axes(self, views: Iterable[View]) -> list[Axis]:
        """Return the axes over which all arrays are read, outermost first: all of the dimensions of
        one are reduced, or none.
        """
        kinds = [d in self.reduced for d in range(len(self.extents))]
        return axes(self.extents, [view.strides for view in views], kinds)

    def is_reduced(self, axis: Axis) -> bool:
        """True for an axis of dimensions that are reduced."""
        return axis.last in self.reduced
