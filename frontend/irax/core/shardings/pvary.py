"""Arrays that are the same on all devices, taken as arrays that may differ between them."""

from __future__ import annotations

from collections.abc import Collection

from irax.core.array import Array
from irax.core.dispatch import bind
from irax.core.key_arrays import KeyArray
from irax.core.shardings import axis_names
from irax_compiler.ops.collective import Pvary


def pvary(x: Array, axes: Collection[str]) -> Array:
    """Return an array that counts as varying along some axes, named as in the IR."""
    if isinstance(x, KeyArray):
        return x.with_data(pvary(x.data, axes))
    for axis in sorted(set(axes) - x.aval.vma):
        size = axis_names.size_of_text(axis)
        x = bind(Pvary(axis, size), x, weak_type=x.aval.weak_type)
    return x
