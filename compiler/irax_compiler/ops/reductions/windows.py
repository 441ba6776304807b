"""The windows that slide over arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from irax_compiler.ops import shape, slicing
from irax_compiler.sizes import larger

Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Window:
    """The windows that slide over arrays: their size, and where they are."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...] = ()
    base_dilations: tuple[int, ...] = ()
    """The distance between neighbouring elements of the arrays after dilation."""
    dilations: tuple[int, ...] = ()
    """The distance between neighbouring elements of a window."""
    padding: Pairs = ()
    """The number of init values before and after the arrays; negative numbers crop them."""

    def full(self) -> Window:
        """Return this window with all defaults written out."""
        ones = (1,) * len(self.sizes)
        return Window(
            self.sizes,
            self.strides or ones,
            self.base_dilations or ones,
            self.dilations or ones,
            self.padding or ((0, 0),) * len(self.sizes),
        )

    @property
    def adds_elements(self) -> bool:
        """True if there are init values between or around the elements of arrays."""
        ends = [n for pair in self.padding for n in pair]
        return any(n > 1 for n in self.base_dilations) or any(n > 0 for n in ends)

    def padded(self, array: Sequence[int]) -> tuple[int, ...]:
        """The shape of an array of some shape after dilation and padding."""
        return tuple(
            low + high + larger((n - 1) * b + 1, 0)
            for n, b, (low, high) in zip(array, self.base_dilations, self.padding, strict=True)
        )

    def count(self, array: Sequence[int]) -> tuple[int, ...]:
        """Return the number of windows in each dimension of an array of the given shape."""
        return tuple(
            larger((n - (size - 1) * d - 1) // stride + 1, 0) if size > 0 else 0
            for n, size, d, stride in zip(
                self.padded(array), self.sizes, self.dilations, self.strides, strict=True
            )
        )

    def places(self, array: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
        """For each element of a window, in order: where the slice of the padded array starts and
        ends that holds this element of all windows, with the windows' strides.
        """
        count = self.count(array)
        for offset in product(*(range(n) for n in self.sizes)):
            start = [o * d for o, d in zip(offset, self.dilations, strict=True)]
            end = [
                s + (n - 1) * stride + 1
                for s, n, stride in zip(start, count, self.strides, strict=True)
            ]
            yield start, end

    def pad(self) -> slicing.Pad:
        """The op that dilates and pads an array."""
        return slicing.Pad(
            tuple(low for low, _ in self.padding),
            tuple(high for _, high in self.padding),
            tuple(b - 1 for b in self.base_dilations),
        )

    def with_axis(self, axis: int) -> Window:
        """The windows of arrays with a further dimension, in which they have one element."""
        parts = (self.sizes, self.strides, self.base_dilations, self.dilations)
        return Window(
            *(shape.insert(p, axis, 1) for p in parts),
            padding=(*self.padding[:axis], (0, 0), *self.padding[axis:]),
        )
