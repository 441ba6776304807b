"""Places of cotangents, which a rule for reverse mode adds to instead of returning them."""

from __future__ import annotations

from typing import Any

from irax import tree_util
from irax.transforms.symbolic_zeros import SymbolicZero, Zero


class GradAccum:
    """The place of a cotangent, which a rule for reverse mode adds to."""

    def __init__(self, aval: Any, val: Any = None) -> None:
        self.aval: Any = aval
        self.val: Any = val

    def accum(self, x: Any) -> None:
        """Add a cotangent."""
        if not isinstance(x, Zero):
            self.val = x if self.val is None else tree_util.tree_map(_sum, self.val, x)

    def freeze(self) -> Any:
        """Return what was added; a `Zero` for nothing."""
        return Zero(self.aval) if self.val is None else self.val


class ValAccum(GradAccum):
    """The place of a cotangent that is wanted."""


class NullAccum(GradAccum):
    """The place of a cotangent that is not wanted: it keeps none."""

    def accum(self, x: Any) -> None:
        """Leave a cotangent out."""


def _sum(x: Any, y: Any) -> Any:
    return x + y


def is_place(x: Any) -> bool:
    """Return True for the place of a cotangent."""
    return isinstance(x, GradAccum)


def collected(places: Any) -> Any:
    """Return the cotangents of a pytree of places, as arrays."""

    def collect(place: Any) -> Any:
        return SymbolicZero(place.aval).instantiate() if place.val is None else place.val

    return tree_util.tree_map(collect, places, is_leaf=is_place)
