"""jax.interpreters.batching: batching rules of primitives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import irax.numpy as jnp
from irax.compat.jax.interpreters.tracers import BatchTracer as BatchTracer
from irax.core.tracing import Trace
from irax.extend.application import AxisData as AxisData
from irax.extend.rules import axis_batching_rules as axis_primitive_batchers
from irax.extend.rules import batching_rules as primitive_batchers
from irax.extend.rules import fancy_batching_rules as fancy_primitive_batchers

__all__ = [
    "AxisData",
    "BatchTrace",
    "BatchTracer",
    "axis_primitive_batchers",
    "bdim_at_front",
    "broadcast",
    "defbroadcasting",
    "defreducer",
    "defvectorized",
    "fancy_primitive_batchers",
    "is_vmappable",
    "make_iota",
    "moveaxis",
    "not_mapped",
    "primitive_batchers",
    "to_elt",
]


class _IsBatch(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Trace) and instance.kind == "vmap"


class BatchTrace(metaclass=_IsBatch):
    """The class of traces of `vmap`."""


def make_iota(axis_size: int) -> Any:
    """Return the numbers of the lanes along a mapped axis."""
    return jnp.arange(axis_size, dtype=jnp.int32)


def to_elt(trace: Any, get_idx: Any, x: Any, spec: Any) -> Any:
    """Return what a function that is mapped sees of an argument: all of it, where `spec` is None.

    Raises:
        NotImplementedError: the argument has a mapped axis: `jax.vmap` alone traces elements.
    """
    if spec is not None:
        raise NotImplementedError("to_elt: elements are traced by jax.vmap alone: map a function")
    return x


not_mapped = None
"""The axis of an operand that all lanes share."""


def moveaxis(x: Any, src: int | None, dst: int, perm: Any = None) -> Any:
    """Return an array with its mapped axis elsewhere; as it is if it has none."""
    return x if src is None or src == dst else jnp.moveaxis(x, src, dst)


def broadcast(x: Any, sz: int, axis: int, *_: Any) -> Any:
    """Return an array repeated along a new axis."""
    return jnp.repeat(jnp.expand_dims(x, axis), sz, axis)


def bdim_at_front(x: Any, bdim: int | None, size: int, *_: Any) -> Any:
    """Return an array with the mapped axis first, repeated if it has none."""
    return broadcast(x, size, 0) if bdim is None else moveaxis(x, bdim, 0)


def defvectorized(primitive: Any) -> None:
    """State that a primitive of one operand works element by element."""

    def batch(operands: Any, axes: Any, **params: Any) -> tuple[Any, Any]:
        (x,), (axis,) = operands, axes
        return primitive.bind(x, **params), axis

    primitive_batchers[primitive] = batch


def defbroadcasting(primitive: Any) -> None:
    """State that a primitive works element by element on operands of one shape."""

    def batch(operands: Any, axes: Any, **params: Any) -> tuple[Any, Any]:
        size = next(
            x.shape[axis] for x, axis in zip(operands, axes, strict=True) if axis is not None
        )
        placed = [bdim_at_front(x, axis, size) for x, axis in zip(operands, axes, strict=True)]
        return primitive.bind(*placed, **params), 0

    primitive_batchers[primitive] = batch


def defreducer(primitive: Any, ident: Callable[..., Any] | None = None) -> None:
    """State that a primitive of one operand folds the dimensions in its parameter `axes`."""

    def batch(operands: Any, dims: Any, *, axes: Any, **params: Any) -> tuple[Any, Any]:
        (x,), (dim,) = operands, dims
        moved = tuple(d + (d >= dim) for d in axes)
        return primitive.bind(x, axes=moved, **params), dim - sum(d < dim for d in moved)

    primitive_batchers[primitive] = batch


def register_vmappable(data_type: type, *_: Any) -> None:
    """Accepted: vmap maps over pytrees of arrays alone."""


def unregister_vmappable(data_type: type) -> None:
    """Accepted, as `register_vmappable` is."""


def is_vmappable(x: Any) -> bool:
    """Return False: vmap maps over pytrees of arrays alone."""
    return False
