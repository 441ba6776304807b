"""Devices, and the way of a traced module to a program that runs on one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any

import numpy as np

from irax.config import config
from irax.core import dispatch
from irax.core.tracebacks import api_boundary
from irax.execution import mesh_programs
from irax_compiler import api, kept_programs, mlir, spans, targets
from irax_compiler.ops import long_runs
from irax_compiler.ops.control_flow import long_loops
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
    return _of_backend(distributed.devices, backend)


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
        return _of_backend(runtime_devices.devices, backend)
    if number not in range(distributed.process_count()):
        raise ValueError(
            f"local_devices: there is no process {number!r}; expected 0 to "
            f"{distributed.process_count() - 1}"
        )
    return [device for device in devices(backend) if device.process_index == number]


def _of_backend(find: Callable[[str | None], list[Any]], backend: str | None) -> list[Any]:
    try:
        return find(backend)
    except runtime_devices.NoDevice as error:
        if backend is None:
            raise
        raise runtime_devices.NoDevice(f"Unknown backend: {error}") from error  # as JAX begins


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
    if not is_device(device):
        raise TypeError(no_device(what, device))


def is_device(device: Any) -> bool:
    """Return True for a device, or a name."""
    return isinstance(device, str) or hasattr(device, "put")


def no_device(what: str, given: Any) -> str:
    """Return the message about what is neither a device nor a name."""
    return f"{what}: expected a device of irax.devices(), or the name of a platform, got {given!r}"


def numbers_apart(
    module: mlir.Module, name: str, device: Device
) -> tuple[mlir.Module, list[np.ndarray[Any, Any]]]:
    """Return what to compile for a function of a module on a device, and the numbers that this
    takes after the function's arguments.
    """
    if isinstance(device, MeshDevice) or not targets.find(device.target).takes_numbers:
        return module, []
    return api.set_scalars_apart(module, name)


def compile(
    module: mlir.Module,
    name: str,
    device: Device | None = None,
    donated: Sequence[int] = (),
    traced: mlir.Module | None = None,
) -> Executable:
    """Compiles function `name` of a module for a device, and loads it there. Of the arguments
    `donated` it may use the memory for its results. The list of what is kept has the function as it
    is in `traced`, if that is given.
    """
    device = device or current_device()
    if isinstance(device, MeshDevice):
        return mesh_programs.executable(
            module, name, device, partial(compile, donated=donated), donated
        )
    key = kept_programs.key(module, name, device.target, donated)

    def made(reads: bool = True) -> bytes:
        about = kept_programs.about(traced or module, name)
        lowered = api.lower(module, name, device.target, donated=donated, is_direct=True)
        made_of = (lowered, device.target, donated, spans.lists(), about, reads)
        artefact = interruptible.run(_compiled, *made_of)
        kept_programs.store(key, artefact, about)
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


def _compiled_loop(module: mlir.Module, name: str) -> long_loops.Compiled:
    """Compile the rest of a loop for the processor.

    Raises:
        UnsupportedOp: IREE does not compile it; the evaluator goes on.
    """
    device = runtime_devices.devices("cpu")[0]
    try:
        executable = compile(module, name, device)
    except api.CompileError as error:
        raise UnsupportedOp(str(error)) from error

    def run(operands: long_loops.Arrays) -> long_loops.Arrays:
        return [x.numpy() for x in executable.run([device.put(np.asarray(x)) for x in operands])]

    return run


dispatch.use_compiler(compile, current_device)
long_loops.compile_by(_compiled_loop)
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
    about: str,
    reads: bool = True,
) -> bytes:
    """Compile a lowered module; where `reads` is false, without what the cache has of it."""
    from irax_compiler import cache

    reading = nullcontext() if reads else cache.unread()
    with spans.recorded_in(recorded), reading, cache.describing(about):
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
