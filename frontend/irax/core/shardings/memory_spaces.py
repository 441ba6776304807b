"""Spaces of memory: that of the devices, and the host's, as far as they use it by themselves."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops.memory_kinds import MemoryKinds, deciding, kind_of
from irax_runtime.device import HOST_KIND, MEMORY_KIND


class Space(enum.Enum):
    """A space of memory, as types of arrays tell it.

    >>> irax.typeof(irax.device_put(irax.numpy.ones(2), Space.Host))
    float32<host>[2]
    """

    Device = enum.auto()
    Host = enum.auto()
    Any = enum.auto()

    def __repr__(self) -> str:
        return f"MemorySpace.{self.name}"

    __str__ = __repr__

    @property
    def kind(self) -> str:
        """The name of the memory of a device."""
        return HOST_KIND if self is Space.Host else MEMORY_KIND


def space_of(kind: str) -> Space:
    """Return the space of a memory of a device."""
    return Space.Host if kind == HOST_KIND else Space.Device


class MemoriesInTrace:
    """The memories of the values of a function that is being traced."""

    def __init__(self, module: mlir.Module) -> None:
        self.known: dict[Value, str] = {}
        self._analysis = MemoryKinds(mlir.Functions(module))

    def of(self, value: Value) -> str:
        """Return the memory that a value is in."""
        return kind_of(self._analysis.of_value(value, self.known))

    def check(self, what: str, values: Sequence[Value], types: Sequence[Any]) -> None:
        """Raise ValueError for operands of an operation that are in several memories; `types` are
        theirs, for the message.
        """
        facts = [self._analysis.of_value(x, self.known) for x in values]
        if len(deciding(facts, values)) > 1 and any(x.shape for x in types):
            raise ValueError(
                f"{what} of {' and '.join(map(str, types))}: the operands are in several spaces of "
                "memory; bring them into one by irax.device_put(x, irax.memory.Space.Device)"
            )
