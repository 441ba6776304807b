"""Signatures of the functions that tables make, for editors and type checkers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from irax.core.array import Array
from irax.lax.accuracy import AccuracyMode, Tolerance
from irax.typing import ArrayLike


class Unary(Protocol):
    """A function of one operand."""

    def __call__(self, x: ArrayLike) -> Array: ...


class UnaryInexact(Protocol):
    """A function of one operand that hardware may approximate."""

    def __call__(
        self, x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None
    ) -> Array: ...


class Binary(Protocol):
    """A function of two operands."""

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array: ...


class Reduction(Protocol):
    """A reduction over some axes."""

    def __call__(
        self, operand: ArrayLike, axes: Sequence[int], *, out_sharding: Any = None
    ) -> Array: ...


class Cumulative(Protocol):
    """A cumulative reduction along an axis."""

    def __call__(self, operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array: ...
