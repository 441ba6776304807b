"""The bindings of a kernel's arrays. IREE binds few: of more arrays, small ones share bindings.

Arguments that share one are concatenated, and results are slices of what the kernel returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from irax_compiler.mlir import Value, shape_of
from irax_compiler.ops import slicing
from irax_compiler.ops.barrier import barrier

MOST = 32
"""The most arrays that IREE binds to a kernel, with the kernel's own memory."""
SMALL = 1 << 12
"""The most elements of an array that shares a binding, which means a copy. It is less than what a
kernel overwrites of donated arrays (`donated.WORTH_TAKING`): such arrays have their own."""

Flat = tuple[int, np.dtype]
"""The number of elements and the dtype of an array of one dimension."""


@dataclass
class Bindings:
    """Bindings of arrays of one dimension."""

    sizes: list[Flat] = field(default_factory=list[Flat])
    places: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """For each array the number of its binding, and the place of its first element there."""

    @classmethod
    def of(cls, arrays: Sequence[Flat], share: bool) -> Bindings:
        """Return a binding for each array, or, if they `share`, one for all small ones of a
        dtype.
        """
        found = cls()
        shared: dict[np.dtype, int] = {}
        for size, dtype in arrays:
            own = len(found.sizes)
            binding = shared.setdefault(dtype, own) if share and size <= SMALL else own
            if binding == own:
                found.sizes.append((0, dtype))
            start, _ = found.sizes[binding]
            found.places.append((binding, start))
            found.sizes[binding] = start + size, dtype
        return found

    def joined(self, arrays: Sequence[Value]) -> list[Value]:
        """Return what is bound for arrays."""
        parts: list[list[Value]] = [[] for _ in self.sizes]
        for x, (binding, _) in zip(arrays, self.places, strict=True):
            parts[binding].append(x)
        return [each[0] if len(each) == 1 else slicing.Concatenate(0)(*each) for each in parts]

    def parted(self, bound: Sequence[Value], arrays: Sequence[Flat]) -> list[Value]:
        """Return the arrays in what is bound."""
        each = zip(self.places, arrays, strict=True)
        return [part_of(bound[binding], start, size) for (binding, start), (size, _) in each]


def of_kernel(taken: Sequence[Flat], given: Sequence[Flat]) -> tuple[Bindings, Bindings]:
    """Return the bindings of a kernel's arguments and of its results."""
    share = len(taken) + len(given) + 1 > MOST
    return Bindings.of(taken, share), Bindings.of(given, share)


def in_place(taken: Bindings, given: Bindings, pairs: Mapping[int, int]) -> dict[int, int]:
    """Return the bindings of results and arguments, of pairs of these, that have one array each."""
    first = len(taken.sizes)
    found = {}
    for result, argument in pairs.items():
        (own, _), (other, _) = given.places[result], taken.places[argument]
        if (
            given.sizes[own] == taken.sizes[other]
            and _is_alone(given, own)
            and _is_alone(taken, other)
        ):
            found[first + own] = other
    return found


def _is_alone(bound: Bindings, binding: int) -> bool:
    return sum(own == binding for own, _ in bound.places) == 1


def too_many(taken: Sequence[Flat], given: Sequence[Flat]) -> bool:
    """True if a kernel has more arrays than IREE can bind, though small ones share bindings."""
    return sum(len(x.sizes) for x in of_kernel(taken, given)) + 1 > MOST


def part_of(array: Value, start: int, size: int) -> Value:
    """Return a part of an array, behind a barrier: IREE cannot fuse some slices with what
    follows.
    """
    if shape_of(array) == (size,):
        return array
    return barrier.build([slicing.slice_in_dim(array, start, start + size, 0)])[0]
