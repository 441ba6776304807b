"""Devices, and the way of a traced module to a program that runs on one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any

import numpy as np

from irax import tree_util
from irax.config import config
from irax.core import array_trees, dispatch
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.key_arrays import KeyArray
from irax.core.layouts import Format, Layout, sharding_of_format
from irax.core.partition_specs import PartitionSpec
from irax.core.sharded import placed
from irax.core.shardings import Sharding, as_sharding
from irax.core.tracebacks import api_boundary
from irax.core.tracing import still_open
from irax.execution import mesh_programs
from irax_compiler import api, kept_programs, mlir, spans, targets
from irax_compiler.ops import long_runs
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.sizes import InconclusiveDimensionOperation
from irax_runtime import devices as runtime_devices
from irax_runtime import distributed, interruptible
from irax_runtime.device import Device, Executable
from irax_runtime.mesh import MeshDevice


@api_boundary
def devices(backend: str | None = None) -> list[Device]:
    """Return the available devices, or those of one platform: "cpu", "pjrt:cpu", "tpu".

    Without a platform it is those of the platforms in `IRAX_PLATFORMS`, "cpu" if that is not set.
    In a job of several processes it is those of all of them.

    Args:
        backend: the name of a platform.

    Raises:
        RuntimeError: there is no such platform here; the message tells why.

    >>> devices()
    [CpuDevice(id=0)]
    """
    return distributed.devices(backend)


def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Device]:
    """Return the devices of a process of the job: by default, of this one.

    Args:
        process_index: the number of the process.
        backend: the platform; by default all that are in use.
        host_id: an older name of `process_index`.

    Raises:
        ValueError: there is no such process.

    >>> irax.local_devices(backend="cpu")[0].platform
    'cpu'
    """
    number = host_id if process_index is None else process_index
    if number is None:
        return runtime_devices.devices(backend)
    if number not in range(distributed.process_count()):
        raise ValueError(
            f"local_devices: there is no process {number!r}; expected 0 to "
            f"{distributed.process_count() - 1}"
        )
    return [device for device in devices(backend) if device.process_index == number]


def device_count(backend: str | None = None) -> int:
    """Return the number of devices of the default platform, or of another one.

    Args:
        backend: the name of a platform; by default that on which programs run.

    Raises:
        RuntimeError: there is no such platform.
        TypeError: `backend` is not a name.

    >>> irax.device_count() == len(irax.devices())
    True
    """
    return len(devices(backend or default_backend()))


def local_device_count(backend: str | None = None) -> int:
    """Return the number of devices of this process.

    Args:
        backend: the name of a platform; by default that on which programs run.

    Raises:
        RuntimeError: there is no such platform.
        TypeError: `backend` is not a name.

    >>> irax.local_device_count() == len(irax.local_devices())
    True
    """
    return len(local_devices(backend=backend or default_backend()))


def default_backend() -> str:
    """Return the platform that programs run on by default.

    >>> default_backend()
    'cpu'
    """
    return current_device().platform


def current_device() -> Device:
    """Return the device that programs run on by default: that of `default_device`, or the first of
    all.
    """
    return resolve_device(config.default_device)


def resolve_device(device: Device | str | None) -> Device:
    """Return a device itself, the first one of a platform, or by default the first of all."""
    if device is None or isinstance(device, str):
        return runtime_devices.devices(device)[0]
    return device


def check_device(device: Any, what: str) -> None:
    """Raises TypeError for what is neither a device nor a name; the message calls it `what`."""
    if not _is_device(device):
        raise TypeError(_no_device(what, device))


def _is_device(device: Any) -> bool:
    return isinstance(device, str) or hasattr(device, "put")


def _no_device(what: str, given: Any) -> str:
    return f"{what}: expected a device of irax.devices(), or the name of a platform, got {given!r}"


def compile(
    module: mlir.Module, name: str, device: Device | None = None, donated: Sequence[int] = ()
) -> Executable:
    """Compiles function `name` of a module for a device, and loads it there. Of the arguments
    `donated` it may use the memory for its results.
    """
    device = device or current_device()
    if isinstance(device, MeshDevice):
        return mesh_programs.executable(
            module, name, device, partial(compile, donated=donated), donated
        )
    key = kept_programs.key(module, name, device.target, donated)

    def made(reads: bool = True) -> bytes:
        lowered = api.lower(module, name, device.target, donated=donated)
        made_of = (lowered, device.target, donated, spans.lists(), reads)
        artefact = interruptible.run(_compiled, *made_of)
        kept_programs.store(key, artefact)
        return artefact

    artefact = kept_programs.load(key) or made()
    try:
        return interruptible.run(_program, artefact, name, device, spans.lists())
    except (RuntimeError, ValueError):
        # A file of the cache may be whole, and yet be none that loads.
        anew = made(reads=False)
        if anew == artefact:
            raise
        return interruptible.run(_program, anew, name, device, spans.lists())


def loaded(artefact: bytes, name: str, device: Device) -> Executable | None:
    """Return a program that was compiled before; None if it does not load."""
    try:
        return interruptible.run(_program, artefact, name, device, spans.lists())
    except (RuntimeError, ValueError):
        return None


dispatch.use_compiler(compile)
long_runs.run_by(interruptible.run)


def compile_for_all_sizes(
    module: mlir.Module, name: str, device: Device
) -> tuple[Executable | None, str]:
    """Compile a function with symbolic sizes. Where the device's target compiles it for known sizes
    alone, the result is None and the reason, which other processes are told.
    """
    if isinstance(device, MeshDevice):
        return None, "programs of several devices are for known sizes alone"
    key = kept_programs.key(module, name, device.target, ())
    why = kept_programs.refusal(key)
    if why is not None:
        return None, why
    try:
        return compile(module, name, device), ""
    except (UnsupportedOp, api.PassError, InconclusiveDimensionOperation) as error:
        why = str(error)
    except RuntimeError as error:
        if not isinstance(error, api.CompileError):  # of this process alone
            return None, str(error)
        why = str(error)
    kept_programs.refuse(key, why)
    return None, why


def _compiled(
    lowered: mlir.Module,
    target: str,
    donated: Sequence[int],
    recorded: Sequence[list[spans.Span]],
    reads: bool = True,
) -> bytes:
    """Compile a lowered module; where `reads` is false, without what the cache has of it."""
    from irax_compiler import cache

    with spans.recorded_in(recorded), nullcontext() if reads else cache.unread():
        return targets.compile(lowered, target, donated)


def _program(
    artefact: bytes, name: str, device: Device, recorded: Sequence[list[spans.Span]]
) -> Executable:
    with spans.recorded_in(recorded), spans.span("load", str(device)):
        if device.compiler is None:
            return device.load(artefact, name)
        return _compiled_before(device, artefact, name) or _compiled_now(device, artefact, name)


# Imported here and above because it would take a tenth of the time of `import irax`.


def _compiled_before(device: Device, artefact: bytes, name: str) -> Executable | None:
    from irax_compiler import cache

    kept = cache.load(cache.key(artefact, [str(device.compiler)]))
    try:
        return None if kept is None else device.load(kept, name)
    except (RuntimeError, ValueError):  # the plugin does not load a program that it serialized
        return None


def _compiled_now(device: Device, artefact: bytes, name: str) -> Executable:
    from irax_compiler import cache

    executable: Any = device.load(artefact, name)
    with suppress(RuntimeError):  # the plugin does not serialize programs
        cache.store(cache.key(artefact, [str(device.compiler)]), executable.serialize())
    return executable


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
        device: a device, the platform whose first one it is, a sharding, or a pytree of these that
            is a prefix of `x`; a `PartitionSpec` is of the mesh of the context. Programs run where
            their arrays were put. Without it the arrays are free: they go where they are used.
            Traced arrays stay where the program that computes them runs.
        src: accepted; an array knows where it is.
        donate: accepted; the array stays as it is.
        may_alias: accepted; memory is shared where that is safe.

    Raises:
        TypeError: a leaf is not an array.
        ValueError: `device` is not a device, or an array cannot be divided as a sharding says.
        RuntimeError: there is no such platform here, or no mesh for a `PartitionSpec`.
        UnexpectedTracerError: a traced array that has leaked.

    >>> device_put(np.ones(2, "float32"))
    Array([1., 1.], dtype=float32)
    """
    if device is None:
        return array_trees.tree_map(_to_put, x)
    leaves, tree = array_trees.tree_flatten(x)
    places = array_trees.prefix_broadcast(device, x, is_leaf=lambda leaf: leaf is None)
    put = [_put(leaf, place) for leaf, place in zip(leaves, places, strict=True)]
    return array_trees.tree_unflatten(tree, put)


def _to_put(leaf: Any) -> Array:
    return still_open(as_array(leaf, "device_put: x"))


def _put(leaf: Any, place: Any) -> Array:
    array = _to_put(leaf)
    if isinstance(place, Format) and place.layout is Layout.AUTO:
        raise ValueError(f"device_put: a compiler alone chooses layouts, got {place!r}")
    place = sharding_of_format("device_put", place, array.shape)
    if place is None or not isinstance(array, ConcreteArray):
        return array
    if isinstance(place, Sharding | PartitionSpec):
        return placed(array, as_sharding("device_put", place))
    if not _is_device(place):
        raise ValueError(_no_device("device_put", place))
    return array.on(resolve_device(place))


def copy_to_host_async(x: Any) -> Any:
    """Return a pytree of arrays as it is: elements are copied to the host when they are
    asked for.

    Args:
        x: a pytree of arrays.

    >>> irax.copy_to_host_async(irax.numpy.arange(3)) is None
    False
    """
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

    return tree_util.tree_map(fetch, x)
