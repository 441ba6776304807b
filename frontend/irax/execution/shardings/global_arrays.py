"""Arrays made of the parts that devices have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax import dtypes
from irax.core import transfer_guards
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.key_arrays import KeyArray
from irax.core.shardings.mesh_devices import device_of_mesh
from irax.core.shardings.sharded import placed, spec_of
from irax.core.shardings.shardings import (
    Index,
    IndivisibleError,
    NamedSharding,
    Sharding,
    SingleDeviceSharding,
    as_sharding,
)
from irax.core.tracebacks import api_boundary
from irax.core.trees import array_trees
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
            part's elements, or keys; it is called for the parts of this process's devices.
        dtype: the dtype of the parts, to check it.

    Raises:
        TypeError: `sharding` is no sharding, or a part has no elements that arrays can have.
        ValueError: the array cannot be divided so, or a part has another shape or dtype.

    >>> sharding = irax.NamedSharding(irax.make_mesh((1,), ("i",)), irax.P("i"))
    >>> irax.make_array_from_callback((3,), sharding, lambda index: np.arange(3)[index])
    Array([0, 1, 2], dtype=int32)
    """
    what = "make_array_from_callback"
    _check_sharding(what, sharding)
    parts: dict[Any, Any] = {}
    for device, index in sharding.addressable_devices_indices_map(shape).items():
        part = data_callback(index)
        is_keys = isinstance(part, KeyArray)
        parts[device] = part if is_keys else _concrete(np.asarray(part), what)
    return _joined(what, tuple(shape), sharding, parts, dtype)


@api_boundary
def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Sharding, arrays: Sequence[Array], *, dtype: Any = None
) -> Array:
    """Return the array whose parts are arrays on single devices.

    Args:
        shape: the shape of the whole array.
        sharding: the division of the array among devices.
        arrays: the parts, one on each of this process's devices, in any order.
        dtype: the dtype of the parts, to check it.

    Raises:
        TypeError: `sharding` is no sharding; `arrays` is no list or tuple, or not of arrays.
        ValueError: there is not one part for each device, or a part has another shape or dtype, or
            is on several devices, or is traced.

    >>> sharding = irax.NamedSharding(irax.make_mesh((1,), ("i",)), irax.P("i"))
    >>> irax.make_array_from_single_device_arrays((2,), sharding, [irax.numpy.ones(2)])
    Array([1., 1.], dtype=float32)
    """
    what = "make_array_from_single_device_arrays"
    _check_sharding(what, sharding)
    given: Any = arrays
    if not isinstance(given, list | tuple):
        raise TypeError(f"{what}: arrays must be a list or tuple of arrays, got {type(given)}")
    parts: dict[Any, Any] = {}
    for x in given:
        if not isinstance(x, ConcreteArray | KeyArray):
            kind = ValueError if isinstance(x, Array) else TypeError
            raise kind(f"{what}: arrays must have arrays, got {x!r:.100} of type {type(x)}")
        if len(devices := x.sharding.devices) > 1:
            raise ValueError(
                f"{what}: arrays must have arrays on one device each, got one of type {x.aval} on "
                f"{len(devices)}: {x.sharding!r}"
            )
        if devices[0] in parts:
            raise ValueError(f"{what}: arrays must have one array on {devices[0]!r}, got several")
        parts[devices[0]] = x
    if missing := sharding.addressable_devices - parts.keys():
        raise ValueError(
            f"{what}: expected an array on each device of {sharding!r}, got none on {missing}"
        )
    if others := parts.keys() - sharding.addressable_devices:
        raise ValueError(f"{what}: got arrays on {others}, which {sharding!r} has not")
    return _joined(what, tuple(shape), sharding, parts, dtype)


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
            `local_data`. A size that is None follows from the sharding, and so do all by default. A
            size that the data have already says that they are whole along that dimension.

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
    with transfer_guards.explicit():
        made = [_of_local_data(*each) for each in zip(shardings, leaves, shapes, strict=True)]
    return array_trees.tree_unflatten(tree, made)


def _is_shape(x: Any) -> bool:
    sizes = (int, np.integer, type(None))
    return isinstance(x, list | tuple) and all(isinstance(n, sizes) for n in x)


def _of_local_data(place: Any, local_data: Any, global_shape: Sequence[int | None] | None) -> Array:
    what = "make_array_from_process_local_data"
    sharding = (
        SingleDeviceSharding(place) if isinstance(place, Device) else as_sharding(what, place)
    )
    data = _concrete(local_data, what).value
    own, counts = _own_parts(sharding, data.ndim), sharding.parts(data.ndim)
    inferred = [
        _global_size(what, sharding, n, *sizes)
        for n, sizes in enumerate(zip(data.shape, map(len, own), counts, strict=True))
    ]
    wanted = [None] * data.ndim if global_shape is None else list(global_shape)
    if len(wanted) != data.ndim or any(
        size not in (None, *known)
        for size, *known in zip(wanted, inferred, data.shape, strict=True)
    ):
        raise ValueError(
            f"{what}: local_data of shape {data.shape} is of an array of shape {tuple(inferred)}, "
            f"by {sharding!r}; got global_shape={tuple(wanted)}"
        )
    shape = [a if b is None else b for a, b in zip(inferred, wanted, strict=True)]
    lengths = sharding.shard_shape(shape)

    def own_part(index: Index) -> np.ndarray[Any, Any]:
        slices = []
        for n, piece in enumerate(index):
            if shape[n] == data.shape[n]:
                slices.append(piece)
                continue
            place = own[n].index((piece.start or 0) // lengths[n])
            slices.append(slice(place * lengths[n], (place + 1) * lengths[n]))
        return data[tuple(slices)]

    return make_array_from_callback(shape, sharding, own_part)


def _own_parts(sharding: Sharding, rank: int) -> list[list[int]]:
    """For each dimension, the numbers of the parts that this process's devices have."""
    own = sharding.addressable_devices
    found = [
        sharding.number_of_part(place, rank)
        for place, device in enumerate(sharding.devices)
        if device in own
    ]
    return [sorted(set(numbers)) for numbers in zip(*found, strict=True)] if rank else []


def _global_size(
    what: str, sharding: Sharding, dimension: int, size: int, own: int, count: int
) -> int:
    """The size of a dimension of which this process has `own` parts of `count`."""
    if size % own:
        raise IndivisibleError(
            f"{what}: dimension {dimension} of local_data has size {size}; by {sharding!r} this "
            f"process has {own} parts of it: expected a multiple of {own}"
        )
    return size // own * count


def _check_sharding(what: str, x: Any) -> None:
    if not isinstance(x, Sharding):
        raise TypeError(f"{what}: sharding must be a sharding, got {x!r} of type {type(x)}")


def _concrete(x: Any, what: str) -> ConcreteArray:
    array = as_array(x, what)
    if not isinstance(array, ConcreteArray):
        raise TypeError(f"{what}: expected an array with elements, got a traced one, {array.aval}")
    return array


def _joined(
    what: str, shape: tuple[int, ...], sharding: Sharding, parts: dict[Any, Any], dtype: Any
) -> Array:
    """Return the array whose parts these are, by device.

    Raises:
        ValueError: a part has another shape than the sharding says, or another dtype than the
            others or the one that is expected.
    """
    if not parts:
        raise ValueError(f"{what}: this process has no device of {sharding!r}")
    expected = sharding.shard_shape(shape)
    first = next(iter(parts.values())).dtype
    wanted = first if dtype is None else dtypes.requested_dtype(dtype, what)
    for device, part in parts.items():
        if (part.shape, part.dtype) != (expected, wanted):
            raise ValueError(
                f"{what}: the part on {device!r} must have shape {expected} and dtype {wanted}, "
                f"got {part.shape} and {part.dtype}"
            )
    keys = next(iter(parts.values()))
    if isinstance(keys, KeyArray):
        words = {device: part.data for device, part in parts.items()}
        whole = (*shape, *keys.data.shape[keys.ndim :])
        return keys.with_data(_joined(what, whole, sharding, words, None))
    if not isinstance(sharding, NamedSharding):
        return placed(next(iter(parts.values())), sharding)
    device: Any = device_of_mesh(sharding.mesh)  # pyright: ignore[reportArgumentType]
    places = {place: own.put(parts[own].value) for place, own in device.local.items()}
    buffer = device.of_pieces(shape, spec_of(sharding, len(shape)), places)
    return ConcreteArray(None, buffer=buffer, committed=True)
