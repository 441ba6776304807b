"""jax.experimental.hijax: the classes that flax derives from. irax runs no primitives on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from irax.compat.jax.core import AbstractValue as AbstractValue
from irax.compat.jax.core import ShapedArray as ShapedArray
from irax.extend.primitive import Primitive
from irax.extend.zeros import Zero as Zero
from irax.extend.zeros import instantiate_zeros as instantiate_zeros
from irax.extend.zeros import is_undefined_primal as is_undefined_primal


class HiPrimitive(Primitive):
    """A primitive on values that are no arrays."""


class HiType(AbstractValue):
    """The base of types of values that are no arrays."""


class MutableHiType(HiType):
    """The base of types of values that change."""


class AvalQDD:
    """A type, and what is known of a value that changes."""

    def __init__(self, aval: Any, qdd: Any) -> None:
        self.aval: Any = aval
        self.qdd: Any = qdd


class AvalMutableQDD:
    """A type, and a place for what is known of a value that changes."""

    def __init__(self, aval: Any, mutable_qdd: Any) -> None:
        self.aval: Any = aval
        self.mutable_qdd: Any = mutable_qdd


class _Effects:
    """A set of classes of side effects."""

    def __init__(self) -> None:
        self._types: set[type] = set()

    def add_type(self, effect: type) -> None:
        """Add a class."""
        self._types.add(effect)


control_flow_allowed_effects: _Effects = _Effects()


def aval_method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a method of a type that traced values have; a decorator."""
    return function


def aval_property(fget: Callable[..., Any]) -> property:
    """Mark a property of a type that traced values have; a decorator."""
    return property(fget)


def register_hitype(cls: type, typeof: Callable[..., Any]) -> None:
    """Accepted: values of the class are no arguments of irax's functions."""
