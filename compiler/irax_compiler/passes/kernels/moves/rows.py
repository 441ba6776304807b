"""The rows of an array of numbers, and their division among workgroups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from irax_compiler.mlir import Value
from irax_compiler.ops.core import full
from irax_compiler.passes.kernels import executables
from irax_compiler.passes.kernels.executables import size_of_share
from irax_compiler.passes.kernels.moves import kernels

INT32 = np.dtype(np.int32)


@dataclass(frozen=True)
class Rows:
    """Rows of equal length, of which a workgroup has as many as pay."""

    dtype: np.dtype
    rows: int
    length: int

    work: ClassVar[int]
    """The least work for which a workgroup pays, in the unit of `steps`."""

    @property
    def steps(self) -> int:
        """The work for all rows."""
        raise NotImplementedError

    @property
    def workgroups(self) -> int:
        """The number of workgroups."""
        return -(-self.rows // self._share)

    def dispatched(self, kind: str, x: Value, extents: Sequence[int]) -> Value:
        """Build the dispatch of a kernel of some kind that finds places, in int32, for an array."""
        like = full(tuple(extents), 0, INT32)
        name = kernels.name_of(kind, 2, self)
        return kernels.dispatch(name, [x], like, (self.workgroups, 1), self.build)

    def build(self, bindings: list[Value]) -> None:
        """Build the code of a workgroup."""
        raise NotImplementedError

    def own(self) -> tuple[Value, Value]:
        """Build the first row of a workgroup, and the end of its rows."""
        return executables.share(self.rows, self._share, 0)

    @property
    def _share(self) -> int:
        return size_of_share(self.rows, self.steps // self.work)
