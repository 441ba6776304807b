"""IREE's devices with queues: those of the drivers `vulkan`, `cuda` and `hip`.

A call puts a program into the device's queue and returns. Its results are there when its fence has
been reached: a program that takes them waits for it on the device, `wait` and `numpy` do here. By
nothing else is the queue ordered; buffers are never written to once they are made.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import iree.runtime as rt
import numpy as np
from iree.runtime._binding import disable_leak_checker

from irax_runtime import interruptible
from irax_runtime.device import DeviceLostError, HasMemories, OutOfMemoryError
from irax_runtime.devices import PlatformClient, numbered
from irax_runtime.iree import modules
from irax_runtime.iree.drivers import Found, available, failures
from irax_runtime.iree.modules import plain
from irax_runtime.once import once
from irax_runtime.platforms import IreePlatform
from irax_runtime.signature import TensorType

_DEVICE_USAGE = int(rt.BufferUsage.DEFAULT)
_MAPPED_USAGE = _DEVICE_USAGE | int(rt.BufferUsage.MAPPING)
_STAGING_USAGE = int(rt.BufferUsage.TRANSFER) | int(rt.BufferUsage.MAPPING)
_DEVICE_MEMORY = int(rt.MemoryType.DEVICE_LOCAL)
_HOST_MEMORY = int(rt.MemoryType.HOST_LOCAL)

_SIGNALS = 100_000_000
"""Nanoseconds after which a wait looks for signals."""

MAX_IN_FLIGHT = 64
"""Programs in the queue: their results take memory before anybody has asked for them."""


@once
def devices(platform: IreePlatform) -> tuple[GpuDevice, ...]:
    """All devices of one of IREE's drivers.

    Raises:
        DriverError: there are none.
    """
    with failures(platform):
        return tuple(map(GpuDevice, available(platform)))


@dataclass(frozen=True, eq=False)
class Opened:
    """A device as IREE has opened it, until it is lost."""

    device: Any
    module: Any


class GpuDevice(HasMemories):
    """A device of one of IREE's drivers, as `devices` finds them."""

    compiler = None
    process_index = 0

    def __init__(self, found: Found) -> None:
        """Opens a device that there is."""
        self.platform = found.platform.name
        self.id = self.local_hardware_id = found.id
        self.device_kind = found.device_kind
        self.driver = found.driver
        self.is_processor = found.is_processor
        self.target = found.target
        self._found = found
        self._instance = rt.VmInstance()
        self.opened = self._open()
        self._in_flight: deque[Any] = deque()
        self._lock = threading.RLock()  # buffers are freed at any time, also where it is held
        self._bytes_in_use = 0
        self._is_unified = self._can_be_mapped()
        self._is_forked = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._abandon)

    def _open(self) -> Opened:
        device = self._found.open()
        # A device must outlive its buffers, also those that are left when Python exits: it is
        # never freed, and the bindings must not complain about that.
        disable_leak_checker()
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(device))
        return Opened(device, rt.create_hal_module(self._instance, device))

    def _abandon(self) -> None:
        """In a forked process, which has none of the driver's threads."""
        self._is_forked = True

    def __repr__(self) -> str:
        return f"GpuDevice({self.platform!r}, id={self.id})"

    @property
    def client(self) -> PlatformClient:
        """The client that serves the device."""
        return PlatformClient(self)

    def __reduce__(self) -> Any:
        return numbered, (self.platform, self.id)

    def __call__(self) -> GpuDevice:
        """Itself: `array.device()` is an old spelling of `array.device`."""
        return self

    def memory_stats(self) -> dict[str, int]:
        """`bytes_in_use` by arrays, and `bytes_limit` where the driver tells it."""
        return {"bytes_in_use": self._bytes_in_use, **self._found.memory_stats()}

    def put(self, array: np.ndarray[Any, Any], may_alias: bool = False) -> GpuBuffer:
        """The array in the device's memory: by way of memory that both the host and it can see,
        where that is not the same.

        Raises:
            TypeError: the device has no such dtype.
            OutOfMemoryError: it does not have the memory.
        """
        self.check_process()
        element = modules.element_type(array.dtype, self)
        usage = _MAPPED_USAGE if self._is_unified else _DEVICE_USAGE
        opened = self.opened
        memory = self.allocate(array.nbytes, _DEVICE_MEMORY, usage, opened)
        if array.nbytes and self._is_unified:
            _write(memory, array)
        elif array.nbytes:
            staging = self.allocate(array.nbytes, _HOST_MEMORY, _STAGING_USAGE, opened)
            _write(staging, array)
            self.copy(staging, memory, opened)
        view = rt.HalBufferView(memory, array.shape, element)
        return GpuBuffer(view, TensorType(array.dtype, array.shape), self, opened, None)

    def _can_be_mapped(self) -> bool:
        """Return True if the host can map the device's own memory, through its caches."""
        try:
            memory = self.allocate(256, _DEVICE_MEMORY, _MAPPED_USAGE, self.opened)
        except RuntimeError:
            return False
        return bool(int(memory.memory_type()) & int(rt.MemoryType.HOST_CACHED))

    def allocate(self, size: int, kind: int, usage: int, opened: Opened) -> Any:
        """Memory of a size in bytes. Raises OutOfMemoryError where there is too little."""
        try:
            return opened.device.allocator.allocate_buffer(
                memory_type=kind, allowed_usage=usage, allocation_size=size
            )
        except RuntimeError as error:
            raise self.error(error, opened) from None

    def copy(self, source: Any, target: Any, opened: Opened) -> None:
        """Copies memory, and waits until that is done."""
        try:
            done = new_fence(opened)
            opened.device.queue_copy(source, target, rt.HalFence(0), done)
            _await(done)
        except RuntimeError as error:
            raise self.error(error, opened) from None

    def enter(self, fence: Any) -> None:
        """Takes note of a program in the queue; waits for an older one where there are too many."""
        with self._lock:
            self._in_flight.append(fence)
            oldest = self._in_flight.popleft() if len(self._in_flight) > MAX_IN_FLIGHT else None
        if oldest is not None:
            with contextlib.suppress(RuntimeError):  # who looks at its results is told
                _await(oldest)

    def account(self, size: int) -> None:
        """Counts the bytes of arrays that have come, or gone."""
        with self._lock:
            self._bytes_in_use += size

    def check_opened(self, opened: Opened) -> None:
        """Raises DeviceLostError if the device has been lost since it was opened so."""
        if opened is not self.opened:
            raise DeviceLostError(
                f"{self!r} was lost, with this array: make it again, or have it on another device"
            )

    def error(self, error: Exception, opened: Opened) -> RuntimeError:
        """The exception to raise for an error of IREE's. A lost device is opened anew."""
        text = " ".join(str(error).split())
        if "DEVICE_LOST" in text:
            with self._lock:
                if opened is self.opened:
                    self.opened = self._open()
                    self._in_flight.clear()
            return DeviceLostError(f"{self!r} was lost, with the arrays in its memory: {text}")
        if "RESOURCE_EXHAUSTED" in text or "OUT_OF_DEVICE_MEMORY" in text or "OUT_OF_HOST" in text:
            return OutOfMemoryError(f"{self!r} does not have the memory: {text}")
        return RuntimeError(f"{self!r}: {text}")

    def check_process(self) -> None:
        """Raises RuntimeError in a process that was forked from the device's."""
        if self._is_forked:
            raise RuntimeError(
                f"{self!r} belongs to the process that this one was forked from: start processes "
                "that use it with multiprocessing.get_context('spawn')"
            )

    def load(self, artefact: bytes, entry: str | None = None) -> GpuExecutable:
        """A program compiled by this device's target.

        Args:
            artefact: the compiled module.
            entry: its function; may be left out where there is only one, or one called `main`.

        Raises:
            ValueError: the bytes are not a program for this device, or it has no such function.
        """
        self.check_process()
        module, entry = modules.load_module(self._instance, artefact, entry)
        try:
            return GpuExecutable(self, module, entry)
        except RuntimeError as error:
            text = " ".join(str(error).split())
            raise ValueError(f"not a program for {self!r}: {text[:300]}") from None

    def new_context(self, module: Any, opened: Opened) -> Any:
        """An instance of a program on this device."""
        return rt.VmContext(self._instance, [opened.module, module])


class GpuBuffer:
    """An array in the memory of a device. Its elements may still be being computed."""

    __slots__ = ("_fence", "_numpy", "_view", "device", "dtype", "opened", "shape")

    def __init__(
        self, view: Any, type_: TensorType, device: GpuDevice, opened: Opened, fence: Any
    ) -> None:
        """Takes a buffer over, of which the elements are there once `fence` has been reached."""
        self._view = view
        self._fence = fence
        self.shape = type_.shape
        self.dtype = type_.dtype
        self.device = device
        self.opened = opened
        self._numpy: np.ndarray[Any, Any] | None = None
        device.account(self._size)

    @property
    def _size(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    def __repr__(self) -> str:
        return f"<{TensorType(self.dtype, self.shape)} on {self.device!r}>"

    def __del__(self) -> None:
        if hasattr(self, "device"):
            self.device.account(-self._size)

    @property
    def ref(self) -> Any:
        """IREE's reference to its view of the memory."""
        return self._view.ref

    @property
    def pending(self) -> Any:
        """The fence to be reached before the elements are there; None if they are."""
        if self._fence is not None and self.is_ready():
            self._fence = None
        return self._fence

    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements, read-only, copied from the device when first asked for."""
        if self._numpy is None:
            self.wait()
            self._numpy = self._fetch()
            self._numpy.flags.writeable = False
        return self._numpy

    def _fetch(self) -> np.ndarray[Any, Any]:
        device = self.device
        device.check_process()
        if not self._size:
            return np.empty(self.shape, self.dtype)
        device.check_opened(self.opened)
        staging = device.allocate(self._size, _HOST_MEMORY, _STAGING_USAGE, self.opened)
        device.copy(self._view.get_buffer(), staging, self.opened)
        mapped = staging.map()
        return np.array(mapped.asarray(list(self.shape), plain(self.dtype))).view(self.dtype)

    def wait(self) -> None:
        """Waits until the elements have been computed.

        Raises:
            RuntimeError: they could not be; an OutOfMemoryError where memory was what lacked.
        """
        if self._fence is None:
            return
        self.device.check_process()
        try:
            _await(self._fence)
        except RuntimeError as error:
            raise self.device.error(error, self.opened) from None
        self._fence = None

    def is_deleted(self) -> bool:
        """False: nothing is donated here."""
        return False

    def is_ready(self) -> bool:
        """Return True if the elements have been computed, or have failed to be."""
        if self._fence is None:
            return True
        try:
            return self._fence.wait(timeout=0)
        except RuntimeError:
            return True


class GpuExecutable:
    """A function of a compiled IREE module. Any number of threads may call it at a time."""

    def __init__(self, device: GpuDevice, module: Any, name: str) -> None:
        self.device = device
        self.name = name
        self._module = module
        self._function = module.lookup_function(name)
        reflection = self._function.reflection
        self._run = self._invoke if reflection.get("irax.takes") == "moments" else self._wait_for
        self._is_queued = reflection.get("iree.abi.model") == "coarse-fences"
        # A context serves one call at a time; each call takes one that is free, or makes one more.
        opened = device.opened
        self._contexts = {opened: [device.new_context(module, opened)]}
        self.arguments = modules.signature(reflection, "irax.args")
        self.results = modules.signature(reflection, "irax.results")
        self._num_results = len(self.results or ()) or 4

    def __call__(self, arguments: Sequence[Any]) -> list[GpuBuffer]:
        """Puts a call of the function into the device's queue.

        Raises:
            TypeError: the wrong number of arguments, or one of another dtype.
            ValueError: an argument of another shape.
            RuntimeError: the device does not take the program, or an argument could not be
                computed.
        """
        if self.arguments is not None:
            modules.check(self.name, arguments, self.arguments)
        return self.run(arguments)

    def run(self, arguments: Sequence[Any]) -> list[GpuBuffer]:
        """Run without checking the arguments: for callers that know that they fit."""
        device = self.device
        device.check_process()
        opened = device.opened
        for argument in arguments:
            device.check_opened(argument.opened)
        inputs = rt.VmVariantList(len(arguments) + 2)
        for argument in arguments:
            inputs.push_ref(argument.ref)
        waiting = list({id(f): f for x in arguments if (f := x.pending) is not None}.values())
        done = None
        if self._is_queued:
            done = new_fence(opened)
            inputs.push_ref((rt.HalFence.join(waiting) if waiting else rt.HalFence(0)).ref)
            inputs.push_ref(done.ref)
        else:
            for x in arguments:
                x.wait()
        outputs = rt.VmVariantList(self._num_results)
        self._run(inputs, outputs, opened)
        if done is not None:
            device.enter(done)
        views = [outputs.get_as_object(i, rt.HalBufferView) for i in range(len(outputs))]
        types = self.results or map(modules.type_of_view, views)
        return [GpuBuffer(v, t, device, opened, done) for v, t in zip(views, types, strict=True)]

    def _wait_for(self, inputs: Any, outputs: Any, opened: Opened) -> None:
        """Programs with loops stay in the call until the condition of the last step is known."""
        interruptible.run(self._invoke, inputs, outputs, opened)

    def _invoke(self, inputs: Any, outputs: Any, opened: Opened) -> None:
        free = self._contexts.setdefault(opened, [])
        try:
            context = free.pop()
        except IndexError:
            context = self.device.new_context(self._module, opened)
        try:
            context.invoke(self._function, inputs, outputs)
        except (RuntimeError, ValueError, IndexError) as error:  # as IREE's status is
            raise self.device.error(error, opened) from None
        finally:
            free.append(context)


def new_fence(opened: Opened) -> Any:
    """A new fence of a device, that nothing has reached yet."""
    return rt.HalFence.create_at(opened.device.create_semaphore(0), 1)


def _await(fence: Any) -> None:
    """Waits for a fence, and lets Python answer signals meanwhile."""
    while not fence.wait(timeout=_SIGNALS):
        pass


def _write(memory: Any, array: np.ndarray[Any, Any]) -> None:
    """Copies an array into memory that the host can see."""
    dtype = plain(array.dtype)
    mapped = memory.map()
    np.copyto(mapped.asarray(list(array.shape), dtype), array.view(dtype))
