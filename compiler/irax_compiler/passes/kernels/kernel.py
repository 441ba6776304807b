"""The base of kernels that compute the results of a cluster of operations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from math import prod

from irax_compiler.mlir import Value
from irax_compiler.passes.kernels import executables
from irax_compiler.passes.kernels.division import Division
from irax_compiler.passes.kernels.loops.memory import (
    bound,
    bound_type,
    held_dtype,
    held_shape,
    unbound,
)

SHARE = 1 << 15
"""The fewest elements for a workgroup."""
VECTOR = 64
"""The bytes of a vector."""
ARRAYS = 24
"""The most arrays that a kernel reads and writes; IREE binds 32."""
LONG = 512
"""The most operations that are written out for the vectors of a step."""


class Kernel(ABC):
    """A kernel, which reads arrays and gives results. Subclasses build its code."""

    kind: str
    """The beginning of its name."""

    def __init__(self, arrays: Sequence[Value], given: Sequence[Value]) -> None:
        self.arrays = list(arrays)
        self.given = list(given)
        self.memories: dict[Value, Value] = {}
        """The memory of arrays from outside, and of results."""

    @property
    def overwritten(self) -> Mapping[Value, Value]:
        """An array for each result that is in its memory."""
        return {}

    @property
    def own(self) -> list[Value]:
        """The results that have memory of their own."""
        return [x for x in self.given if x not in self.overwritten]

    @property
    def parts(self) -> int:
        """The number of workgroups that each give all results, for parts of what is read."""
        return 1

    @property
    @abstractmethod
    def counts(self) -> tuple[int, int]:
        """The number of workgroups, in two dimensions."""

    @property
    def sizes(self) -> list[str]:
        """The variables that it may need."""
        return executables.sizes_of_function()

    @property
    def division(self) -> Division | None:
        """The division of the arrays among items, if they are divided."""
        return None

    @property
    def description(self) -> Hashable | None:
        """The facts that its code follows from; None if they are not known."""
        return None

    @abstractmethod
    def build(self) -> None:
        """Build the code of a workgroup, when arrays have their memory."""

    def called(self, known: executables.Executables) -> list[Value]:
        """Build a call of the kernel, and return what it gives."""
        overwritten, sizes = self.overwritten, self.sizes
        name = known.add_kernel(
            *(self.kind, self.counts, len(self.arrays) + len(self.own), self._build, sizes),
            division=self.division,
            description=self.description,
        )
        head = (self.parts,) if self.parts > 1 else ()
        types = [bound_type(x, head) for x in self.given]
        ties = {
            i: self.arrays.index(overwritten[x])
            for i, x in enumerate(self.given)
            if x in overwritten
        }
        operands = list(map(bound, self.arrays))
        results = executables.dispatch(name, operands, types, ties, sizes=sizes)
        return [unbound(y, x) for x, y in zip(self.given, results, strict=True)]

    def _build(self, bindings: Sequence[Value]) -> None:
        own, overwritten = self.own, self.overwritten
        for x, binding in zip([*self.arrays, *own], bindings, strict=True):
            elements = prod(held_shape(x)) * (self.parts if x in own else 1)
            self.memories[x] = executables.memory(binding, elements, held_dtype(x))
        self.memories.update((x, self.memories[array]) for x, array in overwritten.items())
        self.build()
