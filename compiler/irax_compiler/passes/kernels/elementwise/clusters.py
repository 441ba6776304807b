"""Clusters of elementwise operations that read arrays as views."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops.size_code import usual
from irax_compiler.passes.host.donated import WORTH_TAKING, in_memory_of, is_donated
from irax_compiler.passes.kernels.elementwise import complex_numbers
from irax_compiler.passes.kernels.executables import SIZED_DISPATCH
from irax_compiler.passes.kernels.growth import sources_of
from irax_compiler.passes.kernels.kernel import ARRAYS, LONG, VECTOR
from irax_compiler.passes.kernels.loops.memory import bound_type, held_dtype
from irax_compiler.passes.kernels.views import Axis, View, arrays_of, axes
from irax_compiler.sizes import InconclusiveDimensionOperation, Size

MANY = 4096
"""The fewest elements for which a kernel pays."""
APART = 12
"""The most vectors that are read for one vector of elements."""


@dataclass(frozen=True)
class Cluster:
    """Elementwise operations on values of one shape, which can be one kernel."""

    extents: tuple[Any, ...]
    members: list[Operation]
    writes: list[tuple[Value, View]]
    """The results that are used outside, or the value that is a view, and where to write them."""
    views: dict[Value, View]
    """The views of arrays from outside, by the values that the members use."""

    @cached_property
    def arrays(self) -> list[Value]:
        """The arrays that are read."""
        return arrays_of(self.views.values())

    @cached_property
    def given(self) -> list[Value]:
        """The arrays that are written: the results themselves, or what is concatenated of them."""
        return arrays_of(view for _, view in self.writes)

    @cached_property
    def axes(self) -> list[Axis]:
        """The axes over which all arrays are read and written, outermost first."""
        views = [*self.views.values(), *(view for _, view in self.writes)]
        return axes(self.extents, [view.strides for view in views])

    @cached_property
    def lanes(self) -> int:
        """The number of elements of a vector."""
        values = [*self.views, *self.given, *(o.results[0] for o in self.members)]
        return VECTOR // max(held_dtype(x).itemsize for x in values)

    @property
    def is_short(self) -> bool:
        """True if rows are shorter than a vector: several are then read together."""
        return self.axes[-1].extent < self.lanes

    @property
    def stepped(self) -> Axis | None:
        """The axis along which a vector of elements is a step, or of rows that are shorter than
        that; None if there is none of that length.
        """
        found = self.axes[-2:-1] if self.is_short else self.axes[-1:]
        return found[0] if found and found[0].extent >= self.lanes else None

    @property
    def vectors(self) -> int:
        """The number of vectors in a step."""
        return self.axes[-1].extent if self.is_short else 1

    def offsets(self, view: View, vector: int) -> np.ndarray:
        """Return the distances of a vector's elements from the place where a step begins."""
        inner = [view.strides[axis.last] for axis in self.axes[-2:]]
        if any(isinstance(n, Size) for n in (inner if self.is_short else inner[-1:])):
            raise InconclusiveDimensionOperation("the distances within a vector are not known")
        number = vector * self.lanes + np.arange(self.lanes)
        if not self.is_short:
            return number * view.strides[self.axes[-1].last]
        row, place = np.divmod(number, self.axes[-1].extent)
        outer, inner = (view.strides[axis.last] for axis in self.axes[-2:])
        return row * outer + place * inner

    def is_readable(self, view: View) -> bool:
        """True if few vectors have the elements of each vector."""
        return view.array is None or all(
            np.ptp(self.offsets(view, vector)) < APART * self.lanes
            for vector in range(self.vectors)
        )

    @cached_property
    def overwritten(self) -> dict[Value, Value]:
        """A donated array for each result that can be in its memory: nothing else uses the array,
        which is read once, and a kernel computes no element twice.
        """
        if (
            self.joins
            or not self.members
            or self.stepped is None
            or self.stepped.extent % self.lanes
        ):
            return {}
        return in_memory_of(filter(self._is_given_up, self.arrays), self.given)

    def _is_given_up(self, array: Value) -> bool:
        if not is_donated(array) or array.owner != self.members[0].block:
            return False
        views = [v for v in self.views.values() if v.array is not None and v.array == array]
        return (
            prod(self.extents) >= WORTH_TAKING
            and array.type == bound_type(array)
            and all(view == View.plain(array) for view in views)
            and all(use.owner.operation in self.members for use in array.uses)
        )

    @property
    def pays(self) -> bool:
        """True if an array is read in another order than its own or written to, if numbers are
        complex, or several results share operations, and a kernel is not too long. IREE often
        computes such results by several kernels, which store what they share.
        """
        is_small = len(self.arrays) + len(self.given) <= ARRAYS
        is_small = is_small and len(self.members) * self.vectors <= LONG
        moves = any(not view.is_in_order(self.extents) for view in self.views.values())
        return is_small and (moves or self.joins or self._has_complex or self._stands_alone)

    @property
    def joins(self) -> bool:
        """True if results are written to parts of an array."""
        return any(x != view.array for x, view in self.writes)

    @property
    def apart(self) -> Any:
        """The distance in the arrays that are written between neighbours of a step."""
        assert self.stepped is not None
        return self.writes[0][1].strides[self.stepped.last]

    @property
    def _has_complex(self) -> bool:
        """True if complex numbers are computed with, of which IREE has no vectors."""
        return any(map(complex_numbers.is_known, self.members))

    @property
    def _stands_alone(self) -> bool:
        """True if a donated array is written to, or there are several results, and no large array
        is read that IREE could compute in the same kernel.
        """
        sources = sources_of(x for x in self.arrays if usual(prod(shape_of(x))) >= MANY)
        is_apart = all(o.name in ("flow.dispatch", SIZED_DISPATCH) for o in sources)
        return is_apart and (bool(self.overwritten) or len(self.given) > 1)
