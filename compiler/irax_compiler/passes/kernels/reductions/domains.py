"""The domain of a reduction: the elements that it folds, and how arrays are read over them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Value, shape_of
from irax_compiler.ops import shape
from irax_compiler.ops.size_code import usual
from irax_compiler.passes.kernels.views import View, axes, contiguous
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


@dataclass(frozen=True)
class Access:
    """The place of each of a domain's elements in an array."""

    array: Value | None
    """The array; None stands for the place itself, as of an iota."""
    strides: tuple[Any, ...]
    """For each dimension of the domain, the distance between neighbours; 0 where the array has one
    element for all."""
    start: Any = 0
    """The place of the first element."""

    def described(self, x: Value, arrays: Mapping[Value, int]) -> Hashable:
        """Return a description of the access for a value, by the numbers of arrays."""
        array = None if self.array is None else (arrays[self.array], self.array.type)
        return x.type, array, self.strides, self.start

    @classmethod
    def of_view(cls, x: Value, domain: Domain) -> Access | None:
        """Return the access to the array whose elements a value has in another order, if a line of
        them is long enough to be read by vectors; otherwise what `of` returns.
        """
        dimensions, view, extents = _dimensions(x, domain), View.of(x), shape_of(x)
        if dimensions is None or view.array is None or not extents:
            return cls.of(x, domain)
        if usual(view.line(extents)) < min(LINE, usual(prod(extents))):
            return cls.of(x, domain)
        return cls(view.array, _strides(domain, dimensions, view.strides), view.start)

    @classmethod
    def of(cls, x: Value, domain: Domain) -> Access | None:
        """Return the access to a whole or folded value, or to a number: that of the array which is
        broadcast to it, if one is. None if its elements are in another order.
        """
        dimensions = _dimensions(x, domain)
        if dimensions is None:
            return None
        source = mlir.definition(x)
        op = None if source is None else read_as(shape.Iota, source)
        if op is not None:
            return cls(None, _strides(domain, [dimensions[op.iota_dimension]], [1]))
        op = None if source is None else read_as(shape.BroadcastInDim, source)
        if source is not None and op is not None:
            if list(op.broadcast_dimensions) != sorted(op.broadcast_dimensions):
                return None
            x, dimensions = source.operands[0], [dimensions[d] for d in op.broadcast_dimensions]
        extents = shape_of(x)
        steps = [0 if n == 1 else d for n, d in zip(extents, contiguous(extents), strict=True)]
        return cls(x, _strides(domain, dimensions, steps))


def _dimensions(x: Value, domain: Domain) -> Sequence[int] | None:
    extents = shape_of(x)
    if extents == domain.extents:
        return range(len(extents))
    return domain.places(extents) if extents else ()


def _strides(domain: Domain, dimensions: Sequence[int], steps: Sequence[int]) -> tuple[int, ...]:
    known = dict(zip(dimensions, steps, strict=True))
    return tuple(known.get(d, 0) for d in range(len(domain.extents)))


@dataclass(frozen=True)
class Group:
    """Consecutive dimensions that are walked through as one."""

    extent: Any
    is_reduced: bool
    last: int
    """The innermost of the dimensions: its stride is that of the group."""


def groups(domain: Domain, accesses: Iterable[Access]) -> list[Group]:
    """Return the groups of a domain's dimensions, outermost first. Dimensions are together if all
    arrays are read over them as over one.
    """
    is_reduced = [d in domain.reduced for d in range(len(domain.extents))]
    found = axes(domain.extents, [access.strides for access in accesses], is_reduced)
    return [Group(axis.extent, is_reduced[axis.last], axis.last) for axis in found]
