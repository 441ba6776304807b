"""Mutable arrays: `new_ref` makes one, `ref[...]` reads it, `ref[i] = x` writes to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.avals import AbstractRef as AbstractRef
from irax.core.refs.refs import Ref as Ref
from irax.core.shardings.sharded import apart_from
from irax.core.tracebacks import api_boundary

__all__ = [
    "AbstractRef",
    "Ref",
    "addupdate",
    "empty_ref",
    "free_ref",
    "freeze",
    "get",
    "new_ref",
    "set",
    "swap",
]


@api_boundary
def new_ref(
    init_val: Any, *, memory_space: Any = None, kind: str | None = None, pin: bool = False
) -> Ref:
    """Return a mutable array that begins as a copy of an array or a number. Its dtype is not weak.

    Args:
        init_val: the array.
        memory_space: accepted; it is the processor's memory.
        kind: accepted; all mutable arrays are of one kind.
        pin: accepted; a mutable array stays where it is.

    Raises:
        TypeError: `init_val` is no array.

    >>> ref = irax.new_ref(irax.numpy.arange(3.0))
    >>> @irax.jit
    ... def double(ref):
    ...     ref[...] *= 2
    >>> double(ref)
    >>> ref[...]
    Array([0., 2., 4.], dtype=float32)
    """
    value = as_array(init_val, "new_ref: init_val").with_weak_type(False)
    return Ref(apart_from(init_val, value))


@api_boundary
def empty_ref(ty: Any, memory_space: Any = None, pin: bool = False) -> Ref:
    """Return a mutable array of a shape and dtype, with any elements.

    Args:
        ty: a `ShapeDtypeStruct`, or what else has a shape and a dtype.
        memory_space: of no effect.
        pin: of no effect.

    Raises:
        TypeError: `ty` has no shape or no dtype.

    >>> irax.empty_ref(irax.ShapeDtypeStruct((2, 3), "float32")).shape
    (2, 3)
    """
    if not hasattr(ty, "shape") or not hasattr(ty, "dtype"):
        raise TypeError(f"empty_ref: expected an object with a shape and a dtype, got {ty!r}")
    return Ref(ConcreteArray(np.zeros(ty.shape, ty.dtype)))


def freeze(ref: Ref) -> Array:
    """Return a mutable array's elements, when nothing writes to it any more.

    Args:
        ref: a `Ref`, which must not be used afterwards.

    Raises:
        TypeError: `ref` is not a `Ref`.

    >>> irax.freeze(irax.new_ref(2.0))
    Array(2., dtype=float32)
    """
    return _checked("freeze", ref)[...]


def free_ref(ref: Ref) -> None:
    """Accepted: a mutable array's memory is freed when nothing refers to it.

    Args:
        ref: a `Ref`.

    Raises:
        TypeError: `ref` is not a `Ref`.

    >>> ref = irax.new_ref(1.0)
    >>> irax.free_ref(ref)
    """
    _checked("free_ref", ref)


@api_boundary
def get(ref: Ref, idx: Any = None) -> Array:
    """Return the elements at an index, or all.

    >>> irax.ref.get(irax.new_ref(irax.numpy.arange(3)), 1)
    Array(1, dtype=int32)
    """
    return _checked("ref.get", ref)[... if idx is None else idx]


@api_boundary
def set(ref: Ref, idx: Any, value: Any) -> None:
    """Write to the elements at an index; None is all.

    >>> ref = irax.new_ref(irax.numpy.arange(3))
    >>> irax.ref.set(ref, 0, 5)
    >>> ref[...]
    Array([5, 1, 2], dtype=int32)
    """
    _checked("ref.set", ref)[... if idx is None else idx] = value


@api_boundary
def swap(ref: Ref, idx: Any, value: Any, _function_name: str = "ref_swap") -> Array:
    """Write to the elements at an index, and return those that were there.

    >>> irax.ref.swap(irax.new_ref(irax.numpy.arange(3)), 1, 7)
    Array(1, dtype=int32)
    """
    before = get(ref, idx)
    set(ref, idx, value)
    return before


@api_boundary
def addupdate(ref: Ref, idx: Any, x: Any) -> None:
    """Add to the elements at an index; None is all.

    >>> ref = irax.new_ref(irax.numpy.arange(3))
    >>> irax.ref.addupdate(ref, 2, 5)
    >>> ref[...]
    Array([0, 1, 7], dtype=int32)
    """
    _checked("ref.addupdate", ref).addupdate(x, ... if idx is None else idx)


def _checked(what: str, ref: Any) -> Ref:
    if not isinstance(ref, Ref):
        raise TypeError(f"{what}: expected a Ref, which irax.new_ref makes, got {ref!r}")
    return ref


__getattr__: _GetAttr = _refuse_names(__name__)
