"""Groups of lanes along several axes, or of several sizes.

No op has such groups. Here each lane has a table of them, and finds its own by its index.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from irax.core.array import Array, as_array
from irax.core.dtypes.promotion import select
from irax.lax.slicing import dynamic_index_in_dim
from irax.lax.structure import expand_dims
from irax_compiler.ops.collective import Groups
from irax_compiler.ops.reductions import reduce


@dataclass(frozen=True)
class LaneGroups:
    """The groups of lanes that communicate with each other, seen from one of the lanes."""

    groups: Groups
    lane: Array
    """The index of the lane."""

    @cached_property
    def number(self) -> Array:
        """The number of the lane's group."""
        return self._of_lane([n for n, group in enumerate(self.groups) for _ in group])

    @cached_property
    def place(self) -> Array:
        """The place of the lane in its group."""
        return self._of_lane([place for group in self.groups for place in range(len(group))])

    @cached_property
    def size(self) -> Array:
        """The number of lanes in its group."""
        return self._of_lane([len(group) for group in self.groups for _ in group])

    @cached_property
    def members(self) -> Array:
        """The lanes of its group, where all groups have one size."""
        return self._of_lane([group for group in self.groups for _ in group])

    def _of_lane(self, by_group: object) -> Array:
        """The row of this lane in a table that has one for each lane of each group."""
        order = np.concatenate([np.array(group, int) for group in self.groups])
        return as_array(np.array(by_group, np.int32)[np.argsort(order)])[self.lane]

    def reduced(self, x: Array, combiner: str, over_all: Callable[[Array], Array]) -> Array:
        """Return the reduction over the lane's group, from one over all lanes of an array with a
        row for each group.
        """
        rows = np.arange(len(self.groups), dtype=np.int32).reshape(-1, *(1,) * x.ndim)
        nothing = as_array(np.asarray(reduce.identity(combiner, x.dtype)).astype(x.dtype))
        own = select(as_array(rows) == self.number, expand_dims(x, (0,)), nothing, "groups")
        return dynamic_index_in_dim(over_all(own), self.number, 0, keepdims=False)

    def taken(self, all_lanes: Array) -> Array:
        """Return the rows of the lane's group, of an array with one for each lane."""
        return all_lanes[self.members]

    def own_part(self, x: Array, dimension: int) -> Array:
        """Return the lane's part of an array with one for each lane of the group."""
        return dynamic_index_in_dim(x, self.place, dimension, keepdims=False)
