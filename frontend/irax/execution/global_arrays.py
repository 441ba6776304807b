"""Arrays made of the parts that devices have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax.core import array_trees
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.sharded import device_of_mesh, placed, spec_of
from irax.core.shardings import (
    Index,
    NamedSharding,
    Sharding,
    SingleDeviceSharding,
    as_sharding,
)
from irax.core.tracebacks import api_boundary
from irax_runtime.device import Device


@api_boundary
def make_array_from_callback(
    shape: Sequence[int],
    sharding: Sharding,
    data_callback: Callable[[Index], Any],
    dtype: Any = None,
) -> Array:
    """Return an array whose parts a function gives.

    Args:
        shape: the shape of the array.
        sharding: the division of the array among devices.
        data_callback: a function of the slices of the array that are a part, which returns the
            part's elements; it is called for the parts of this process's devices.
        dtype: the dtype of the array; by default that of the parts.

    Raises:
        ValueError: the array cannot be divided so, or a part has another shape.

    >>> sharding = irax.NamedSharding(irax.make_mesh((1,), ("i",)), irax.P("i"))
    >>> irax.make_array_from_callback((3,), sharding, lambda index: np.arange(3)[index])
    Array([0, 1, 2], dtype=int32)
    """
    parts: dict[Any, ConcreteArray] = {}
    for device, index in sharding.addressable_devices_indices_map(shape).items():
        parts[device] = _concrete(np.asarray(data_callback(index), dtype))
    return _joined("make_array_from_callback", shape, sharding, parts)


@api_boundary
def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Sharding, arrays: Sequence[Array], *, dtype: Any = None
) -> Array:
    """Return the array whose parts are arrays on single devices.

    Args:
        shape: the shape of the whole array.
        sharding: the division of the array among devices.
        arrays: the parts, one on each of this process's devices.
        dtype: accepted; it is that of the parts.

    Raises:
        TypeError: `arrays` is no list or tuple, or not of arrays, or one of them is traced.
        ValueError: there is not a part for each device, or a part has another shape.

    >>> sharding = irax.NamedSharding(irax.make_mesh((1,), ("i",)), irax.P("i"))
    >>> irax.make_array_from_single_device_arrays((2,), sharding, [irax.numpy.ones(2)])
    Array([1., 1.], dtype=float32)
    """
    what = "make_array_from_single_device_arrays"
    given: Any = arrays
    if not isinstance(given, list | tuple):
        raise TypeError(f"{what}: arrays must be a list or tuple of arrays, got {type(given)}")
    for x in given:
        if not isinstance(x, ConcreteArray):
            raise TypeError(f"{what}: arrays must have arrays, got {x!r:.100} of type {type(x)}")
    parts: dict[Any, ConcreteArray] = {x.device: x for x in given}
    if missing := sharding.addressable_devices - parts.keys():
        raise ValueError(
            f"{what}: expected an array on each device of {sharding!r}, got none on {missing}"
        )
    return _joined(what, shape, sharding, parts)


@api_boundary
def make_array_from_process_local_data(
    sharding: Any, local_data: Any, global_shape: Any = None
) -> Any:
    """Return the array of which this process has some elements, for all its devices.

    Args:
        sharding: the division of the array among devices: a sharding, a device, a `PartitionSpec`
            of the mesh of the context, or a pytree of these that is a prefix of `local_data`.
        local_data: the elements of this process's devices, or the whole array; or a pytree of such.
        global_shape: the shape of the whole array, or a pytree of shapes that is a prefix of
            `local_data`; by default it follows from the sharding.

    Raises:
        TypeError: what is given is no sharding, or a leaf is not an array.
        ValueError: the shapes do not fit the sharding, or a prefix does not fit the data.
        RuntimeError: there is no mesh for a `PartitionSpec`.

    >>> sharding = irax.NamedSharding(irax.make_mesh((1,), ("i",)), irax.P("i"))
    >>> irax.make_array_from_process_local_data(sharding, np.ones(2, np.float32))
    Array([1., 1.], dtype=float32)
    """
    leaves, tree = array_trees.tree_flatten(local_data)
    shardings = array_trees.prefix_broadcast(sharding, local_data, prefix_name="sharding")
    shapes = array_trees.prefix_broadcast(
        global_shape, local_data, is_leaf=_is_shape, prefix_name="global_shape"
    )
    made = [_of_local_data(*each) for each in zip(shardings, leaves, shapes, strict=True)]
    return array_trees.tree_unflatten(tree, made)


def _is_shape(x: Any) -> bool:
    return isinstance(x, list | tuple) and all(isinstance(n, int | np.integer) for n in x)


def _of_local_data(place: Any, local_data: Any, global_shape: Sequence[int] | None) -> Array:
    what = "make_array_from_process_local_data"
    sharding = (
        SingleDeviceSharding(place) if isinstance(place, Device) else as_sharding(what, place)
    )
    data = _concrete(local_data).value
    starts = _starts(sharding, data.ndim)
    parts = sharding.parts(data.ndim)
    shape = tuple(
        size // len(own) * count if own else size
        for size, own, count in zip(data.shape, starts, parts, strict=True)
    )
    if global_shape is not None and tuple(global_shape) == data.shape:
        return make_array_from_callback(data.shape, sharding, lambda index: data[index])
    if global_shape is not None and tuple(global_shape) != shape:
        raise ValueError(
            f"{what}: data of shape {data.shape} is of an array of "
            f"shape {shape}, by {sharding!r}; got global_shape={tuple(global_shape)}"
        )
    lengths = sharding.shard_shape(shape)

    def own_part(index: Index) -> np.ndarray[Any, Any]:
        slices = []
        for piece, own, length in zip(index, starts, lengths, strict=True):
            place = own.index((piece.start or 0) // length) if length else 0
            slices.append(slice(place * length, (place + 1) * length))
        return data[tuple(slices)]

    return make_array_from_callback(shape, sharding, own_part)


def _starts(sharding: Sharding, rank: int) -> list[list[int]]:
    """For each dimension, the numbers of the parts that this process's devices have."""
    own = sharding.addressable_devices
    found = [
        sharding.number_of_part(place, rank)
        for place, device in enumerate(sharding.devices)
        if device in own
    ]
    return [sorted(set(numbers)) for numbers in zip(*found, strict=True)] if rank else []


def _concrete(x: Any) -> ConcreteArray:
    array = as_array(x)
    if not isinstance(array, ConcreteArray):
        raise TypeError(f"expected an array with elements, got a traced one, {array.aval}")
    return array


def _joined(
    what: str, shape: Sequence[int], sharding: Sharding, parts: dict[Any, ConcreteArray]
) -> Array:
    expected = sharding.shard_shape(shape)
    for device, part in parts.items():
        if part.shape != expected:
            raise ValueError(
                f"{what}: the part on {device!r} must have shape {expected}, got {part.shape}"
            )
    if not isinstance(sharding, NamedSharding):
        return placed(next(iter(parts.values())), sharding)
    device: Any = device_of_mesh(sharding.mesh)  # pyright: ignore[reportArgumentType]
    places = {place: own.put(parts[own].value) for place, own in device.local.items()}
    buffer = device.of_pieces(tuple(shape), spec_of(sharding, len(shape)), places)
    return ConcreteArray(None, buffer=buffer, committed=True)
