"""Conversion of types that tell along which axes of a mesh values differ between devices."""

from __future__ import annotations

from typing import Any

from irax import tree_util
from irax.core.array import Array
from irax.core.shardings import axis_names
from irax.core.shardings.axis_names import text_of
from irax.core.shardings.pvary import pvary
from irax.lax.arguments import array_of


def pcast(x: Any, axis_name: Any, *, to: str) -> Any:
    """Return the same arrays as of another type along an axis of a mesh.

    Arrays that are the same on all devices become arrays that may differ ("varying"): derivatives
    with respect to `x` are summed over the axis then. Or they stay as they are, with derivatives
    that may be summed later ("reduced"), which irax sums at once. Arrays that differ become the
    summands of a sum ("unreduced"), which `irax.lax.psum` takes; to irax these vary, too.

    Args:
        x: an array or a pytree of arrays.
        axis_name: the axis of the mesh, or a tuple of axes.
        to: "varying", "reduced" or "unreduced".

    Raises:
        NameError: no `shard_map` around has such an axis.
        ValueError: the arrays differ along the axis already, or for "unreduced", they do not; or
            `to` is unknown.

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
    if to not in ("varying", "reduced", "unreduced"):
        raise ValueError(f'{what}: to must be "varying", "reduced" or "unreduced", got {to!r}')
    names = axis_name if isinstance(axis_name, tuple) else (axis_name,)
    found = [axis_names.find(name, what) for name in names]
    axes = {text_of(axis.name) for axis in found if axis.is_checked}

    def cast(leaf: Any) -> Array:
        array = array_of(what, leaf)
        if to == "unreduced":
            if same := sorted(axes - array.aval.vma):
                raise ValueError(
                    f"{what}: an array of type {array.aval} is the same on all devices along {same}"
                    ': only one that differs can be "unreduced"; cast it to "varying" first'
                )
            return array
        if both := sorted(axes & array.aval.vma):
            raise ValueError(
                f"{what}: an array of type {array.aval} differs between devices along {both} "
                "already"
            )
        return pvary(array, axes) if to == "varying" else array

    return tree_util.tree_map(cast, x)
