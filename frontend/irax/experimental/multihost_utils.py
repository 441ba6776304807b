"""Communication between the processes of a job, outside of compiled programs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from irax import tree_util
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.shardings.meshes import Mesh, is_addressable
from irax.core.shardings.partition_specs import PartitionSpec
from irax.core.shardings.shardings import NamedSharding
from irax.core.trees import array_trees
from irax.execution.shardings.global_arrays import make_array_from_process_local_data
from irax_runtime import distributed
from irax_runtime.communication import current


def _everyone() -> tuple[int, ...]:
    return tuple(range(current.of_process().size))


def sync_global_devices(name: str) -> None:
    """Wait until all processes have called this, with the same name.

    Raises:
        TypeError: `name` is no string.
        CommunicationError: another process gives another name.

    >>> sync_global_devices("start")
    """
    if not isinstance(name, str):
        raise TypeError(f"sync_global_devices: name must be a string, got {name!r}")
    digest = hashlib.sha256(name.encode()).hexdigest()
    current.of_process().check_same(digest, f"sync_global_devices({name!r})")


def _check_types(what: str, in_tree: Any) -> None:
    """Check that all processes call this with arrays of the same types: MPI does not."""
    leaves, tree = tree_util.tree_flatten(in_tree)
    types = [(np.shape(leaf), str(as_array(leaf).dtype)) for leaf in leaves]
    digest = hashlib.sha256(f"{what} {tree} {types}".encode()).hexdigest()
    current.of_process().check_same(digest, what)


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """Return what all processes have of the arrays of a pytree, as NumPy arrays.

    Args:
        in_tree: a pytree of arrays. Of those with parts in several processes it is the whole
            array.
        tiled: join arrays of single processes along their first dimension, instead of stacking
            them along a new one.

    Raises:
        CommunicationError: the processes have arrays of different shapes or dtypes.

    >>> process_allgather(np.ones(2, "float32"))
    array([[1., 1.]], dtype=float32)
    """
    _check_types("process_allgather", in_tree)

    def gather(leaf: Any) -> np.ndarray[Any, Any]:
        if isinstance(leaf, Array) and not leaf.is_fully_addressable:
            return _whole(leaf)
        own = _canonical(leaf)
        found = current.of_process().all_gather(own, _everyone())
        return found.reshape(-1, *own.shape[1:]) if tiled and own.ndim else found

    return tree_util.tree_map(gather, in_tree)


def _canonical(leaf: Any) -> np.ndarray[Any, Any]:
    """The elements of what may be an array, of the dtype that an array of irax would have."""
    return np.asarray(as_array(leaf))


def _whole(x: Array) -> np.ndarray[Any, Any]:
    """The elements of an array of which each process has some, from those of all."""
    found = np.zeros(x.shape, x.dtype)
    has = np.zeros(x.shape, np.int32)
    for shard in x.addressable_shards:
        found[shard.index] = np.asarray(shard.data)
        has[shard.index] = 1
    communicator = current.of_process()
    arrays = communicator.all_gather(found, _everyone())
    owners = communicator.all_gather(has, _everyone()).argmax(0)
    return np.take_along_axis(arrays, owners[None], 0)[0]


@contextmanager
def live_devices(devices: Sequence[Any]) -> Iterator[list[Any]]:
    """In a `with` block, the devices whose processes live. That is all of them: a job ends in all
    processes if one dies. The processes that have the devices enter and leave the block together.

    Args:
        devices: devices, some of which are this process's.

    Raises:
        RuntimeError: `irax.distributed.initialize` has not been called.
        ValueError: none of the devices is this process's.
        CommunicationError: the processes have other devices.
    """
    if not distributed.is_started():
        raise RuntimeError("live_devices: call irax.distributed.initialize first")
    if not any(map(is_addressable, devices)):
        raise ValueError(
            f"live_devices: expected a device of process {distributed.process_index()}, got "
            f"{list(devices)}"
        )
    processes = tuple(sorted({device.process_index for device in devices}))
    what = f"live_devices({sorted((d.process_index, d.id) for d in devices)})"
    current.of_process().check_same(what, what, processes)
    yield list(devices)
    current.of_process().check_same(f"end of {what}", f"end of {what}", processes)


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """Return the arrays that one process has, as NumPy arrays.

    Args:
        in_tree: a pytree of arrays of the same shapes and dtypes in all processes.
        is_source: True in the process whose arrays are returned; by default it is process 0.

    Raises:
        ValueError: no process is the source, or several are.
        CommunicationError: the processes have arrays of different shapes or dtypes.

    >>> broadcast_one_to_all(np.ones(2, "float32"))
    array([1., 1.], dtype=float32)
    """
    _check_types("broadcast_one_to_all", in_tree)
    communicator = current.of_process()
    own = communicator.rank == 0 if is_source is None else is_source
    sources = communicator.all_gather(np.array(own, np.int32), _everyone())
    if sources.sum() != 1:
        raise ValueError(f"broadcast_one_to_all: {sources.sum()} processes are sources, not one")
    (source,) = np.flatnonzero(sources)

    def broadcast(leaf: Any) -> np.ndarray[Any, Any]:
        own = _canonical(leaf)
        return np.asarray(communicator.all_gather(own, _everyone())[source])

    return tree_util.tree_map(broadcast, in_tree)


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """Check that the arrays of a pytree are the same in all processes.

    Raises:
        AssertionError: they differ somewhere. It is raised in all processes.

    >>> assert_equal(np.ones(2))
    """
    expected = broadcast_one_to_all(in_tree)
    leaves = zip(tree_util.tree_leaves(in_tree), tree_util.tree_leaves(expected), strict=True)
    is_same = all(np.array_equal(_canonical(x), y) for x, y in leaves)
    same = current.of_process().all_gather(np.array(is_same, np.int32), _everyone())
    if not same.all():
        raise AssertionError(
            f"{fail_message or 'assert_equal'}: expected {expected}, as process 0 has; got "
            f"{in_tree} here, and other values in processes {np.flatnonzero(same == 0).tolist()}"
        )


def reached_preemption_sync_point(step_id: int) -> bool:
    """Return False: irax is not told when a scheduler is about to end the job.

    >>> reached_preemption_sync_point(3)
    False
    """
    return False


def host_local_array_to_global_array(local_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """Return the arrays of which each process has the part of its devices.

    Args:
        local_inputs: a pytree of arrays.
        global_mesh: the devices of all processes.
        pspecs: a `PartitionSpec` for each array: a pytree that is a prefix of `local_inputs`.

    >>> mesh = irax.make_mesh((1,), ("i",))
    >>> host_local_array_to_global_array(np.ones(2, "float32"), mesh, irax.P("i"))
    Array([1., 1.], dtype=float32)
    """
    leaves, tree = array_trees.tree_flatten(local_inputs)
    specs = array_trees.prefix_broadcast(pspecs, local_inputs, is_leaf=lambda x: x is None)
    found = [
        make_array_from_process_local_data(
            NamedSharding(global_mesh, PartitionSpec() if spec is None else spec), leaf
        )
        for leaf, spec in zip(leaves, specs, strict=True)
    ]
    return array_trees.tree_unflatten(tree, found)


def global_array_to_host_local_array(global_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """Return the parts of arrays that this process's devices have, each as one array; the reverse
    of `host_local_array_to_global_array`.

    Args:
        global_inputs: a pytree of arrays, which have their layouts with them.
        global_mesh: accepted.
        pspecs: accepted.

    >>> mesh = irax.make_mesh((1,), ("i",))
    >>> global_array_to_host_local_array(irax.numpy.ones(2), mesh, irax.P("i"))
    Array([1., 1.], dtype=float32)
    """
    return array_trees.tree_map(_local_part, global_inputs)


def _local_part(x: Any) -> Array:
    array = as_array(x)
    if array.is_fully_addressable:
        return array
    shards = array.addressable_shards
    starts = [sorted({shard.index[d].start or 0 for shard in shards}) for d in range(array.ndim)]
    lengths = shards[0].data.shape
    shape = [len(own) * n for own, n in zip(starts, lengths, strict=True)]
    found = np.empty(shape, array.dtype)
    for shard in shards:
        places = [own.index(i.start or 0) for own, i in zip(starts, shard.index, strict=True)]
        slices = zip(places, lengths, strict=True)
        found[tuple(slice(p * n, (p + 1) * n) for p, n in slices)] = np.asarray(shard.data)
    return ConcreteArray(found)
