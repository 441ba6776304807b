"""Arrays that are put on devices, and fetched from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax import tree_util
from irax.core import transfer_guards
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.dispatch import staged
from irax.core.key_arrays import KeyArray
from irax.core.shardings.layouts import Format, Layout, sharding_of_format
from irax.core.shardings.memory_moves import in_memory
from irax.core.shardings.memory_spaces import Space
from irax.core.shardings.partition_specs import PartitionSpec
from irax.core.shardings.shard_traces import are_shards_at_once
from irax.core.shardings.sharded import copied, sharding_of
from irax.core.shardings.shardings import (
    Sharding,
    SingleDeviceSharding,
    as_sharding,
    checked_memory_kind,
)
from irax.core.tracebacks import api_boundary
from irax.core.tracing import still_open
from irax.core.trees import array_trees
from irax.execution.backend import current_device, is_device, no_device, resolve_device
from irax.execution.moves import check_move
from irax.execution.shardings.jit_shardings import check_constrained, check_manual, constrained
from irax_runtime.device import MEMORY_KIND
from irax_runtime.mesh import devices_of


@api_boundary
def device_put(
    x: Any,
    device: Any = None,
    *,
    src: Any = None,
    donate: Any = False,
    may_alias: Any = None,
) -> Any:
    """Return the arrays, NumPy arrays and scalars of a pytree as irax arrays on a device.

    Args:
        x: the pytree.
        device: a device, the platform whose first one it is, a sharding, an `irax.memory.Space`, or
            a pytree of these that is a prefix of `x`; a `PartitionSpec` is of the mesh of the
            context. Programs run where their arrays were put. Without it the arrays are free: they
            go where they are used. Traced arrays stay where the program that computes them runs,
            which divides them as a sharding says, and runs on the devices of a sharding.
        src: accepted; an array knows where it is.
        donate: True to delete arrays of which there is another one in a new place.
        may_alias: False for arrays in memory of their own; by default memory is shared where that
            is safe. This and `donate` may be pytrees that are prefixes of `x`.

    Raises:
        TypeError: a leaf is not an array.
        ValueError: `device` is not a device, or an array cannot be divided as a sharding says, or
            `donate` and `may_alias` are both True; or in a `shard_map`, a shard is put on a device
            or on another mesh than that of the context.
        RuntimeError: there is no such platform here, or no mesh for a `PartitionSpec`.
        UnexpectedTracerError: a traced array that has leaked.

    >>> device_put(np.ones(2, "float32"))
    Array([1., 1.], dtype=float32)
    """
    leaves, tree = array_trees.tree_flatten(x)
    places, aliases, gifts = (_spread(each, x, len(leaves)) for each in (device, may_alias, donate))
    if any(alias and gift for alias, gift in zip(aliases, gifts, strict=True)):
        raise ValueError("device_put: may_alias and donate cannot both be True")
    with transfer_guards.explicit():
        put = [_put(*each) for each in zip(leaves, places, aliases, strict=True)]
    for leaf, result, gift in zip(leaves, put, gifts, strict=True):
        if gift:
            _delete_if_moved(leaf, result)
    return array_trees.tree_unflatten(tree, put)


def _spread(prefix: Any, x: Any, count: int) -> list[Any]:
    """The entries of a prefix of a pytree, one for each of its leaves."""
    if prefix is None or isinstance(prefix, bool | Sharding | Space):
        return [prefix] * count
    return array_trees.prefix_broadcast(prefix, x, is_leaf=lambda leaf: leaf is None)


def _delete_if_moved(x: Any, result: Array) -> None:
    """Delete an array that is not in the place of the result."""
    if isinstance(x, KeyArray) and isinstance(result, KeyArray):
        x, result = x.data, result.data
    if x is result or not (isinstance(x, ConcreteArray) and isinstance(result, ConcreteArray)):
        return
    if not (x.committed and sharding_of(x) == sharding_of(result)):
        x.delete()


def _put(leaf: Any, place: Any, may_alias: bool | None) -> Array:
    array = still_open(as_array(leaf, "device_put: x"))
    array = _put_on(array, place)
    if isinstance(leaf, ConcreteArray) and isinstance(array, ConcreteArray) and array.committed:
        check_move(leaf, array._buffer.device)  # pyright: ignore[reportOptionalMemberAccess]
    is_own = may_alias is not False or not isinstance(leaf, Array)
    return array if is_own else copied(array)


def _put_on(array: Array, place: Any) -> Array:
    if isinstance(place, Format) and place.layout is Layout.AUTO:
        raise ValueError(f"device_put: a compiler alone chooses layouts, got {place!r}")
    place = sharding_of_format("device_put", place, array.shape)
    if place is None:
        return array
    if isinstance(place, Space):
        return _in_space(array, place)
    if isinstance(place, Sharding | PartitionSpec):
        check_constrained("device_put", place)
        place = as_sharding("device_put", place)
        place.shard_shape(array.shape)  # raises where it does not fit
        check_manual("device_put", array, place)
        if isinstance(array, KeyArray) and isinstance(place, SingleDeviceSharding):
            return array.with_data(constrained(array.data, place))
        return in_memory(constrained(array, place), place.memory_kind)
    if not is_device(place):
        raise ValueError(no_device("device_put", place))
    if array.aval.vma and are_shards_at_once():
        raise ValueError(
            f"device_put: an array of type {array.aval}, which is a shard, cannot be put on "
            f"{place!r}: put all of the array there before or after the shard_map"
        )
    if isinstance(array, KeyArray):
        return array.with_data(_put_on(array.data, place))
    device = resolve_device(place)
    if not isinstance(array, ConcreteArray):
        return array
    return array.on(device).in_memory(MEMORY_KIND)


def _in_space(array: Array, space: Space) -> Array:
    """Return an array in a space of memory of the devices that it is on."""
    if space is Space.Any:
        raise ValueError(f"device_put: expected Space.Device or Space.Host, got {space!r}")
    if isinstance(array, KeyArray):
        return array.with_data(_in_space(array.data, space))
    if isinstance(array, ConcreteArray):
        device = current_device() if array._buffer is None else array._buffer.device

        def put() -> Array:
            kind = checked_memory_kind(space.kind, devices_of(device)[0])
            return array.on(device).in_memory(kind)

        return staged(put, lambda _: in_memory(array, space.kind))
    return in_memory(array, space.kind)


def copy_to_host_async(x: Any) -> Any:
    """Return a pytree of arrays as it is: elements are copied to the host when they are
    asked for.

    Args:
        x: a pytree of arrays. Leaves of other classes that have a method `copy_to_host_async` are
            asked to copy themselves.

    >>> irax.copy_to_host_async(irax.numpy.arange(3)) is None
    False
    """
    for leaf in array_trees.tree_leaves(x):
        if hasattr(leaf, "copy_to_host_async"):
            leaf.copy_to_host_async()
    return x


@api_boundary
def device_get(x: Any) -> Any:
    """Return the arrays of a pytree as NumPy arrays.

    Args:
        x: a pytree of arrays; other leaves stay as they are.

    >>> device_get([device_put(1.0)])
    [array(1., dtype=float32)]
    """

    def fetch(leaf: Any) -> Any:
        numbers = isinstance(leaf, Array) and not isinstance(leaf, KeyArray)
        return np.asarray(leaf) if numbers else leaf

    with transfer_guards.explicit():
        return tree_util.tree_map(fetch, x)
