"""Conversion of values that are the same on all devices of a mesh to values that may differ."""

from __future__ import annotations

from typing import Any

from irax import tree_util
from irax.core import axis_names
from irax.core.array import Array
from irax.core.axis_names import text_of
from irax.core.pvary import pvary
from irax.lax.arguments import array_of


def pcast(x: Any, axis_name: Any, *, to: str) -> Any:
    """Return arrays that are the same on all devices along an axis as arrays that may differ.

    The values are the same. Derivatives with respect to `x` are summed over the axis.

    Args:
        x: an array or a pytree of arrays.
        axis_name: the axis of the mesh, or a tuple of axes.
        to: "varying".

    Raises:
        NameError: no `shard_map` around has such an axis.
        ValueError: the arrays differ along the axis already, or `to` is unknown.
        NotImplementedError: JAX's "reduced" and "unreduced".

    >>> f = irax.shard_map(
    ...     lambda x: irax.lax.pcast(x, "i", to="varying"),
    ...     mesh=irax.make_mesh((1,), ("i",)),
    ...     out_specs=irax.P("i"),
    ... )
    >>> f(irax.numpy.ones(2))
    Array([1., 1.], dtype=float32)
    """
    what = "lax.pcast"
    if isinstance(axis_name, set | frozenset):
        raise TypeError(f"{what}: axis_name must be a name or a tuple of names, got {axis_name!r}")
    if to in ("reduced", "unreduced"):
        raise NotImplementedError(f'{what}: to={to!r} is not supported, only "varying"')
    if to != "varying":
        raise ValueError(f'{what}: to must be "varying", got {to!r}')
    names = axis_name if isinstance(axis_name, tuple) else (axis_name,)
    found = [axis_names.find(name, what) for name in names]
    axes = {text_of(axis.name) for axis in found if axis.is_checked}

    def cast(leaf: Any) -> Array:
        array = array_of(what, leaf)
        if both := sorted(axes & array.aval.vma):
            raise ValueError(
                f"{what}: an array of type {array.aval} differs between devices along {both} "
                "already"
            )
        return pvary(array, axes)

    return tree_util.tree_map(cast, x)
