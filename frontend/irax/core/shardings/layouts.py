"""The order of an array's elements in memory, which is row-major on all of irax's devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from irax.core.shardings.shardings import Sharding


class _Auto:
    """The layout that the compiler chooses."""

    def __repr__(self) -> str:
        return "AUTO"


class Layout:
    """The order of an array's dimensions in memory.

    Args:
        major_to_minor: the dimensions, of which the last one has neighbours side by side.
        tiling: the tiles that elements are in; irax has none.
        sub_byte_element_size_in_bits: the size of elements that share bytes; 0 for others.

    >>> irax.experimental.layout.Layout((0, 1))
    Layout(major_to_minor=(0, 1), tiling=None, sub_byte_element_size_in_bits=0)
    """

    AUTO: Any = _Auto()

    def __init__(
        self,
        major_to_minor: Sequence[int],
        tiling: Sequence[Sequence[int]] | None = None,
        sub_byte_element_size_in_bits: int = 0,
    ) -> None:
        self.major_to_minor: tuple[int, ...] = tuple(major_to_minor)
        self.tiling: tuple[tuple[int, ...], ...] | None = (
            None if tiling is None else tuple(map(tuple, tiling))
        )
        self.sub_byte_element_size_in_bits: int = sub_byte_element_size_in_bits

    def update(self, **fields: Any) -> Layout:
        """Return a copy with other values of some arguments."""
        return Layout(**{**self._fields(), **fields})

    def check_compatible_aval(self, aval_shape: Sequence[int]) -> None:
        """Check that arrays of a shape have as many dimensions.

        Raises:
            ValueError: they have not.
        """
        if len(self.major_to_minor) != len(aval_shape):
            raise ValueError(
                f"{self!r} is of arrays with {len(self.major_to_minor)} dimensions, got one of "
                f"shape {tuple(aval_shape)}"
            )

    def _fields(self) -> dict[str, Any]:
        return {
            "major_to_minor": self.major_to_minor,
            "tiling": self.tiling,
            "sub_byte_element_size_in_bits": self.sub_byte_element_size_in_bits,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(tuple(self._fields().values()))

    def __repr__(self) -> str:
        return f"Layout({', '.join(f'{name}={value}' for name, value in self._fields().items())})"


class Format:
    """A layout and a sharding, for functions that take a sharding.

    Args:
        layout: a `Layout`, `Layout.AUTO`, or None for the device's own.
        sharding: a `Sharding`; None if it is left open.

    Raises:
        TypeError: an argument is something else.
        ValueError: the layout is a `Layout`, but there is no sharding.

    >>> x = irax.numpy.ones((2, 3))
    >>> irax.experimental.layout.Format(x.format.layout, x.sharding) == x.format
    True
    """

    def __init__(self, layout: Any = None, sharding: Any = None) -> None:
        if not (layout is None or isinstance(layout, _Auto | Layout)):
            raise TypeError(
                f"Format: layout must be a Layout, Layout.AUTO or None, got {layout!r} of type "
                f"{type(layout).__name__}"
            )
        if not (sharding is None or isinstance(sharding, Sharding)):
            raise TypeError(
                f"Format: sharding must be a Sharding or None, got {sharding!r} of type "
                f"{type(sharding).__name__}"
            )
        if isinstance(layout, Layout) and sharding is None:
            raise ValueError(f"Format: {layout!r} needs a sharding, got None")
        self.layout: Any = layout
        self.sharding: Any = sharding

    @classmethod
    def row_major(cls, rank: int, sharding: Sharding) -> Format:
        """Return the format of arrays as irax's are."""
        return cls(Layout(tuple(range(rank)), ()), sharding)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Format):
            return NotImplemented
        return (self.layout, self.sharding) == (other.layout, other.sharding)

    def __hash__(self) -> int:
        return hash((self.layout, self.sharding))

    def __repr__(self) -> str:
        return f"Format(layout={self.layout!r}, sharding={self.sharding!r})"


class UnspecifiedValue:
    """The class of the sharding that nobody has told, which JAX has for None."""

    def __repr__(self) -> str:
        return "UnspecifiedValue"


UNSPECIFIED: UnspecifiedValue = UnspecifiedValue()
"""The one value of that class."""


def sharding_of_format(what: str, x: Any, shape: Sequence[int] | None = None) -> Any:
    """Return the sharding of a `Format`, which may be None; None for one that nobody has told;
    anything else as it is.

    Raises:
        ValueError: the layout is not row-major, or an array of this shape cannot have it.
    """
    if not isinstance(x, Format):
        return None if isinstance(x, UnspecifiedValue) else x
    check_row_major(what, x.layout, shape)
    return x.sharding


def check_row_major(what: str, layout: Any, shape: Sequence[int] | None = None) -> None:
    """Check that devices can have an array in a layout: row-major, and not in tiles.

    Raises:
        ValueError: they cannot, or the array of this shape has another number of dimensions.
    """
    if not isinstance(layout, Layout):
        return
    if shape is not None:
        layout.check_compatible_aval(shape)
    if layout.major_to_minor != tuple(range(len(layout.major_to_minor))) or layout.tiling:
        raise ValueError(f"{what}: arrays are row-major on the devices here, got {layout!r}")
