"""Signatures of the functions that tables make, for editors and type checkers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from irax.core.array import Array
from irax.typing import ArrayLike, Axis, DTypeLike


class Unary(Protocol):
    """A function of one operand."""

    def __call__(self, x: ArrayLike, /) -> Array: ...


class Total(Protocol):
    """A sum or product over axes."""

    def __call__(
        self,
        a: ArrayLike,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: None = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
    ) -> Array: ...


class TotalOfIntegers(Protocol):
    """A sum or product over axes, of integers in a wider dtype unless told otherwise."""

    def __call__(
        self,
        a: ArrayLike,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: None = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
        promote_integers: bool = True,
    ) -> Array: ...


class Extremum(Protocol):
    """A maximum or minimum over axes."""

    def __call__(
        self,
        a: ArrayLike,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
    ) -> Array: ...


class Truth(Protocol):
    """A statement on elements over axes."""

    def __call__(
        self,
        a: ArrayLike,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        *,
        where: ArrayLike | None = None,
    ) -> Array: ...


class Place(Protocol):
    """The place of an element along an axis."""

    def __call__(
        self,
        a: ArrayLike,
        axis: int | None = None,
        out: None = None,
        keepdims: bool | None = None,
    ) -> Array: ...


class Cumulative(Protocol):
    """A cumulative sum or product along an axis."""

    def __call__(
        self,
        a: ArrayLike,
        axis: int | None = None,
        dtype: DTypeLike | None = None,
        out: None = None,
    ) -> Array: ...


class ArrayApiCumulative(Protocol):
    """A cumulative sum or product as the array API standard has it."""

    def __call__(
        self,
        x: ArrayLike,
        /,
        *,
        axis: int | None = None,
        dtype: DTypeLike | None = None,
        include_initial: bool = False,
    ) -> Array: ...


class Transform(Protocol):
    """A Fourier transform along an axis."""

    def __call__(
        self, a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None
    ) -> Array: ...


class TransformOfTwo(Protocol):
    """A Fourier transform along two axes."""

    def __call__(
        self,
        a: ArrayLike,
        s: Sequence[int] | None = None,
        axes: Sequence[int] = (-2, -1),
        norm: str | None = None,
    ) -> Array: ...


class TransformOfAny(Protocol):
    """A Fourier transform along several axes."""

    def __call__(
        self,
        a: ArrayLike,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str | None = None,
    ) -> Array: ...


class Window(Protocol):
    """A window function of some length."""

    def __call__(self, M: int) -> Array: ...
