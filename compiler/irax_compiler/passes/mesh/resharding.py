"""Shards of arrays, and what brings them from one layout into another.

The layout of an array is a spec (`ops/control_flow/shard_map.py`): for each dimension, the axes of
the mesh along which it is divided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import elementwise, shape
from irax_compiler.ops.collective import AllGather, AxisIndex
from irax_compiler.ops.control_flow.shard_map import Spec
from irax_compiler.ops.core import full, full_like
from irax_compiler.ops.indexing.dynamic_slices import DynamicSlice
from irax_compiler.shardy.layouts import Mesh


@dataclass(frozen=True)
class Shards:
    """An array of which each device has a shard."""

    value: Value
    """The shard of this device."""
    spec: Spec
    is_broadcast: bool = False
    """True if the array was made of a smaller one: its layout follows those of others."""
    meant: Spec | None = None
    """The spec that it would have if its sizes could be divided so; None for its own."""

    def whole_shape(self, mesh: Mesh) -> tuple[int, ...]:
        """The shape of the array."""
        return unsharded(shape_of(self.value), self.spec, mesh)


def replicated(rank: int) -> Spec:
    """Return the spec of an array that all devices have whole."""
    return ((),) * rank


def parts(axes: Sequence[str], mesh: Mesh) -> int:
    """Return the number of parts of a dimension that is divided along some axes."""
    return prod(mesh[axis] for axis in axes)


def sharded(whole: Sequence[int], spec: Spec, mesh: Mesh) -> tuple[int, ...]:
    """Return the shape of the shards of an array."""
    return tuple(n // parts(axes, mesh) for n, axes in zip(whole, spec, strict=True))


def unsharded(shard: Sequence[int], spec: Spec, mesh: Mesh) -> tuple[int, ...]:
    """Return the shape of the array that has shards of a shape."""
    return tuple(n * parts(axes, mesh) for n, axes in zip(shard, spec, strict=True))


def axes_of_other(other: Mesh, mesh: Mesh) -> dict[str, tuple[str, ...]] | None:
    """Return the axes of a mesh that each axis of another mesh of the same devices joins; None
    where one is no product of such axes.
    """
    left = [(name, size) for name, size in mesh.items() if size > 1]
    found: dict[str, tuple[str, ...]] = {}
    for name, size in other.items():
        joined: list[str] = []
        while size > 1 and left and size % left[0][1] == 0:
            own, count = left.pop(0)
            joined.append(own)
            size //= count
        if size != 1:
            return None
        found[name] = tuple(joined)
    return None if left else found


def resharded(x: Shards, spec: Spec, mesh: Mesh) -> Value:
    """Build this device's shard of the same array in another layout.

    Axes that a dimension keeps are at the beginning of both. The others are gathered, the last one
    first, and then the new ones are divided along.
    """
    if x.spec == spec:
        return x.value
    fill = mlir.splat(x.value)
    if fill is not None:
        return full(sharded(x.whole_shape(mesh), spec, mesh), fill, dtype_of(x.value))
    value = x.value
    kept = [_common(old, new) for old, new in zip(x.spec, spec, strict=True)]
    for d, axes in enumerate(x.spec):
        for axis in reversed(axes[kept[d] :]):
            value = _gathered(value, d, axis, mesh)
    for d, axes in enumerate(spec):
        for axis in axes[kept[d] :]:
            value = divided(value, d, axis, mesh[axis])
    return value


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """The number of axes that two lists have in common at their beginnings."""
    count = 0
    while count < min(len(old), len(new)) and old[count] == new[count]:
        count += 1
    return count


def _gathered(x: Value, dimension: int, axis: str, mesh: Mesh) -> Value:
    """Build the shards of all devices along an axis, joined along a dimension."""
    extents = list(shape_of(x))
    stacked = AllGather(axis, mesh[axis], dimension=dimension)(x)
    extents[dimension] *= mesh[axis]
    return shape.reshape(stacked, extents)


def divided(x: Value, dimension: int, axis: str, count: int) -> Value:
    """Build this device's part of an array whose dimension is divided along an axis of a size."""
    extents = list(shape_of(x))
    extents[dimension] //= count
    place = AxisIndex(axis, count)()
    zero = full_like(place, 0)
    start = elementwise.multiply(place, full_like(place, extents[dimension]))
    starts = [start if d == dimension else zero for d in range(len(extents))]
    return DynamicSlice(tuple(extents))(x, *starts)
