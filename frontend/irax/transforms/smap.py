"""smap: shard_map along one axis of the mesh of the context."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from irax import tree_util
from irax.core.shardings.partition_specs import Infer, PartitionSpec
from irax.transforms.shard_map import shard_map


def smap(
    f: Callable[..., Any] | None = None,
    /,
    *,
    out_axes: Any,
    axis_name: Any,
    in_axes: Any = Infer,
) -> Callable[..., Any]:
    """Return `shard_map(f, ...)` along one axis of the mesh of the context.

    Args:
        f: a function of pytrees of shards. Without it, a decorator is returned.
        out_axes: for each result, the dimension along which its shards are joined, or None.
        axis_name: the axis of the mesh.
        in_axes: for each argument, the dimension that is divided, or None. By default it follows
            from the arguments' shardings, along an axis of type `Explicit`.

    Raises:
        TypeError: `f` is not a function; or on a call, without `in_axes`, an axis of type `Auto`.

    >>> with irax.set_mesh(irax.make_mesh((1,), ("i",))):
    ...     x = irax.numpy.arange(3, out_sharding=irax.P("i"))
    ...     irax.smap(lambda x: 2 * x, out_axes=0, axis_name="i")(x)
    Array([0, 2, 4], dtype=int32)
    """
    if f is None:
        return functools.partial(smap, out_axes=out_axes, axis_name=axis_name, in_axes=in_axes)

    def spec(axis: int | None) -> PartitionSpec:
        return PartitionSpec(*(() if axis is None else (*(None,) * axis, axis_name)))

    def specs(axes: Any) -> Any:
        return tree_util.tree_map(spec, axes, is_leaf=lambda x: x is None)

    in_specs = Infer if in_axes is Infer else specs(in_axes)
    return shard_map(f, in_specs=in_specs, out_specs=specs(out_axes), axis_names={axis_name})
