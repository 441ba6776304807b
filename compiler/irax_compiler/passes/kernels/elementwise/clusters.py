"""Clusters of elementwise operations, which are one kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from irax_compiler.mlir import Operation, Value
from irax_compiler.passes.kernels.elementwise.pieces import Piece
from irax_compiler.passes.kernels.views import arrays_of

MANY = 4096
"""The fewest elements for which a kernel pays."""


@dataclass(frozen=True)
class Cluster:
    """The operations of a kernel, by the pieces of its results."""

    bands: Sequence[Sequence[Piece]]
    """The pieces, in bands of those that are side by side in the same rows."""
    given: Sequence[Value]
    """The arrays that are written."""
    place: Operation
    """The operation before which the kernel is to be."""
    overwritten: Mapping[Value, Value] = field(default_factory=dict)
    """An array for each result that is in its memory."""

    @cached_property
    def pieces(self) -> list[Piece]:
        return [piece for band in self.bands for piece in band]

    @cached_property
    def arrays(self) -> list[Value]:
        """The arrays that are read."""
        return arrays_of(term.view for piece in self.pieces for term in piece.reads)

    @property
    def operations(self) -> list[Operation]:
        """The operations, once for each piece that computes one."""
        return [operation for piece in self.pieces for operation in piece.operations]
