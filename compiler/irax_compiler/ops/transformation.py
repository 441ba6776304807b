"""Protocols of the transformations that call an op's rules.

    op.evaluate(call, *operands)                 evaluates; `call` runs functions of the module
    op.jvp(transform, primals, tangents)         a Differentiation
    op.linearize(transform, primals, tangents)   a Linearization
    op.transpose(transform, cotangents, operands)  a Transposition
    op.batch(transform, operands, axes)          a Batching

A rule of an op that names functions or holds regions asks the transformation to derive them too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from irax_compiler.mlir import Block, Operation, Type, Value
from irax_compiler.ops.derived import Batched, Differentiated, Linearized, Transposed

Axis = int | None
"""The mapped axis of an argument; None for one that is not mapped."""
Evaluation = Callable[[str, Sequence[np.ndarray]], Sequence[np.ndarray]]
"""Evaluates a function of the op's module, by its name."""


class Transformation(Protocol):
    """The operations that every transformation offers to rules."""

    @property
    def functions(self) -> Mapping[str, Operation]:
        """The functions of the module that is being rewritten, by name."""
        ...

    def function(self, name: str, pattern: tuple[Any, ...]) -> Any:
        """The derived form of function `name`; `pattern` says which arguments take part and how."""
        ...

    def definition(self, op: Any, types: tuple[Any, ...]) -> str:
        """Return the name of a function that defines a `DefinedOp` for operands of the given
        types.
        """
        ...

    def outline(self, operation: Operation) -> Sequence[str]:
        """The names of functions that are an operation's regions: of all that the operation
        captures, then the arguments of the region.
        """
        ...

    def build_function(
        self, name: str, types: Sequence[Type], build: Callable[..., Sequence[Value]]
    ) -> str:
        """The name of a new private function, which `build` fills: arguments to results."""
        ...

    def declare_function(self, name: str, inputs: Sequence[Type], results: Sequence[Type]) -> str:
        """The name of a new private function without a body."""
        ...

    def refresh(self) -> None:
        """Takes notice of functions that others have added to the module."""
        ...


class Differentiation(Transformation, Protocol):
    """Computes tangents beside results."""

    def function(self, name: str, pattern: tuple[Any, ...]) -> Differentiated: ...

    def results(self, op: Any, primals: Sequence[Value]) -> Sequence[Value]:
        """The results of the op that is differentiated, as they were without derivatives."""
        ...

    def ask(
        self, op: Any, primals: Sequence[Value], tangents: Sequence[Value | None]
    ) -> tuple[Sequence[Value], Sequence[Value | None]]:
        """The results of another op and their tangents, by its rule for this transformation."""
        ...

    def forward_tangents(
        self, name: str, primals: Sequence[Value], tangents: Sequence[Value | None]
    ) -> Sequence[Value | None]:
        """The tangents of what a function returns, by forward mode in reverse mode too."""
        ...

    def call_rule(
        self, name: str, primals: Sequence[Value], tangents: Sequence[Value], num_results: int
    ) -> tuple[Sequence[Value], Sequence[Value]]:
        """Call function `name` from primals and tangents to results and their tangents."""
        ...

    def deferred(self) -> DeferredDifferentiation:
        """Return the forward mode that is applied to functions later."""
        ...


class DeferredDifferentiation(Protocol):
    """Differentiates functions of the open module, in forward mode."""

    def __call__(self, name: str, wrt: Sequence[int]) -> Differentiated:
        """The derivative of function `name` for tangents of some arguments; all inexact results
        have a tangent.
        """
        ...


class Linearization(Differentiation, Protocol):
    """Computes tangents by operations each of which is either independent of or linear in them."""

    pushes: bool
    """True if tangents are to be computed, and not the transpose."""

    def function(self, name: str, pattern: tuple[Any, ...]) -> Linearized: ...

    def in_forward_mode(
        self, operation: Operation, primals: Sequence[Value], tangents: Sequence[Value | None]
    ) -> tuple[Sequence[Value], Sequence[Value | None]]:
        """The results of an operation and their tangents, which the linear part computes together
        with the results, once more.
        """
        ...


class Transposition(Transformation, Protocol):
    """Computes cotangents of operands from those of results."""

    def function(self, name: str, pattern: tuple[Any, ...]) -> Transposed: ...


class Dependence(Protocol):
    """Tells which results depend on some arguments."""

    def results(self, name: str, flags: Sequence[bool]) -> tuple[bool, ...]:
        """For each result of function `name`, True if it depends on one of the arguments that
        `flags` marks.
        """
        ...

    def of_block(self, block: Block, marked: Iterable[Value]) -> tuple[bool, ...]:
        """For each operand of a block's terminator, True if it depends on one of some values."""
        ...


class Batching(Transformation, Protocol):
    """Computes results of all lanes at once."""

    def function(self, name: str, pattern: tuple[Any, ...]) -> Batched: ...

    @property
    def size(self) -> int:
        """The number of lanes."""
        ...

    @property
    def axis_name(self) -> str:
        """The name of the mapped axis; empty if it has none."""
        ...

    @property
    def mesh_axes(self) -> tuple[str, ...]:
        """The axes of a mesh along which shard_maps have the mapped axis divided."""
        ...

    @property
    def over_devices(self) -> bool:
        """True if lanes are devices of a mesh."""
        ...

    def part(self, count: int) -> DeferredBatching:
        """Return the batching of functions of one of `count` parts of the lanes."""
        ...

    def reserve(self, key: Any, names: Sequence[str]) -> tuple[Sequence[str], bool]:
        """Names for functions to come, the same for the same key; and whether they are new."""
        ...

    def deferred(self) -> DeferredBatching:
        """Return the batching that is applied to functions later, in the same way."""
        ...


class DeferredBatching(Protocol):
    """Batches functions of the open module. Hashable, and equal for what does the same."""

    @property
    def size(self) -> int:
        """The number of lanes."""
        ...

    def __call__(self, name: str, axes: tuple[Axis, ...]) -> str:
        """The name of function `name` for arguments with these mapped axes; all its results have
        the mapped axis first.
        """
        ...

    def free(self, name: str, axes: tuple[Axis, ...]) -> Batched:
        """The batched form of function `name`, whose results have the axis where it falls."""
        ...
