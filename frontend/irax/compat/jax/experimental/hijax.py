"""jax.experimental.hijax: values that hold arrays, of classes that a library defines.

Those that change may be arguments of functions, and be found outside, as `jax.Ref`s may. Others
are no arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from irax.compat.hi_prims import GradAccum as GradAccum
from irax.compat.hi_prims import HiPrim as HiPrim
from irax.compat.hi_prims import NullAccum as NullAccum
from irax.compat.hi_prims import ValAccum as ValAccum
from irax.compat.hi_prims import jvp_from_lin as jvp_from_lin
from irax.compat.hi_prims import linearize_from_jvp as linearize_from_jvp
from irax.compat.hi_prims import vjp_from_jvp as vjp_from_jvp
from irax.compat.hi_prims import vjp_from_lin as vjp_from_lin
from irax.compat.jax._src.core import AbstractValue as AbstractValue
from irax.compat.jax._src.core import ShapedArray as ShapedArray
from irax.core.refs import hi_types, hi_values
from irax.extend.primitive import Primitive
from irax.extend.zeros import Zero as Zero
from irax.extend.zeros import instantiate_zeros as instantiate_zeros
from irax.extend.zeros import is_undefined_primal as is_undefined_primal


class HiPrimitive(Primitive):
    """A primitive that makes values which are no arrays, reads or writes them: by `impl`, when it
    is bound. In a traced function the arrays that they hold are traced.
    """

    def __init__(self, name: str) -> None:
        self.name: str = name

    def bind(self, *args: Any, **params: Any) -> Any:
        """Call `impl`."""
        return hi_values.bound(self.impl, args, params)


VJPHiPrimitive: type[HiPrim] = HiPrim
"""The name of `HiPrim` before JAX 0.12."""


class HiType(AbstractValue):
    """The base of types of values that are no arrays."""

    has_qdd: bool = False
    """True if values change."""


class MutableHiType(HiType):
    """The base of types of values that change. They have `new_from_loval`, `read_loval` and
    `update_from_loval`, from the arrays that a value holds and to them.
    """

    has_qdd: bool = True


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


def register_hitype(val_cls: type, typeof_fn: Callable[[Any], Any]) -> None:
    """Declare a class of values, by the function that returns a value's type."""
    hi_types.register(val_cls, typeof_fn)
