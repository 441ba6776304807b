"""IREE's CPU devices, through its HAL: their memory, and programs loaded there.

One `CpuDevice` stands for two of IREE's: `local-sync`, which runs in the calling thread and starts
in microseconds, and `local-task`, which uses all cores. They share buffers, and each program says
which one suits it.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import Any

import iree.runtime as rt
import numpy as np
from iree.runtime._binding import disable_leak_checker

from irax_runtime import in_flight, libraries, memory, threads
from irax_runtime.communication import current, mpi
from irax_runtime.device import HOST_KIND, MEMORY_KIND, HasMemories
from irax_runtime.devices import PlatformClient, numbered
from irax_runtime.iree import elf, modules, scheduling, shared_library
from irax_runtime.iree.buffers import ArgumentLists, IreeBuffer
from irax_runtime.iree.executable import IreeExecutable
from irax_runtime.once import once
from irax_runtime.platforms import Platform, cpu_devices

_USAGE = int(rt.BufferUsage.DEFAULT) | int(rt.BufferUsage.MAPPING)
_MEMORY = int(rt.MemoryType.DEVICE_LOCAL)
_DRIVERS = {"sync": "local-sync", "task": "local-task"}
_STACK_SIZE = 4 << 20
"""Bytes for each of IREE's threads: four times as many as programs are allowed for arrays. By
default there are 128 KiB, beyond which a program crashes.
"""

_WORTH_ALIASING = 4 << 10
_WORTH_ALIGNING = 512 << 10
"""Bytes from which NumPy memory is wrapped faster than IREE copies it: memory that is there, and
memory that has to be filled first."""

_SAME_IN_DLPACK = frozenset({np.dtype(np.float32), np.dtype(np.float64)})
"""Dtypes of which DLPack's views have the element types that programs take."""


class CpuDevice(HasMemories):
    """The processor this runs on."""

    platform = "cpu"
    target = "iree-cpu"
    compiler = None
    device_kind = "cpu"
    memory_kinds = MEMORY_KIND, HOST_KIND, "unpinned_host"
    driver = modules.DRIVER

    def __init__(self, number: int = 0) -> None:
        memory.keep_freed_memory()
        self.process_index = current.of_process().rank
        self.id = self.process_index * cpu_devices() + number
        self.local_hardware_id = number
        workers = threads.count()
        rt.flags.parse_flags(
            f"--task_worker_stack_size={_STACK_SIZE}",
            # Threads that no processor is fixed for. `placement` fixes one where that is faster.
            f"--task_topology_group_count={workers}",
        )
        self.instance: Any = rt.VmInstance()
        allocators = memory.keeping_freed_buffers()
        others = scheduling.workers()
        with mpi.hidden():
            self._devices = {
                kind: rt.get_driver(driver).create_default_device(allocators)
                for kind, driver in _DRIVERS.items()
            }
        self.placement = scheduling.Placement(scheduling.started(others, workers))
        has_choice = self.placement.has_choice
        self.ways: tuple[str, ...] = ("fixed", "sync", "task") if has_choice else ("task", "sync")
        # A device must outlive its buffers, also those that NumPy arrays hold when Python exits:
        # it is never freed, and the bindings must not complain about that.
        disable_leak_checker()
        for device in self._devices.values():
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(device))
        self.hal_modules: dict[str, Any] = {
            kind: rt.create_hal_module(self.instance, device)
            for kind, device in self._devices.items()
        }
        self._device = self._devices["sync"]
        self._allocate_copy = self._device.allocator.allocate_buffer_copy
        self.lists: ArgumentLists = ArgumentLists(self._device)
        self.in_flight = in_flight.InFlight()
        self.has_fixed: bool = False
        if workers == 1:  # then the calling thread does the work by itself
            self.hal_modules["task"] = self.hal_modules["sync"]
        self.executables: weakref.WeakSet[IreeExecutable] = weakref.WeakSet()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._do_without_threads)

    def _do_without_threads(self) -> None:
        """In a forked process, which has none of this one's threads: a program would wait for them
        for ever. All programs run in the calling thread there.
        """
        self.hal_modules["task"] = self.hal_modules["sync"]
        self.placement.forget()
        for executable in self.executables:
            executable.forget_contexts()

    def __repr__(self) -> str:
        return f"CpuDevice(id={self.id})"

    @property
    def client(self) -> PlatformClient:
        """The client that serves the device."""
        return PlatformClient(self)

    def __reduce__(self) -> Any:
        return numbered, (self.platform, self.id)

    def __call__(self) -> CpuDevice:
        """Itself: `array.device()` is an old spelling of `array.device`."""
        return self

    def memory_stats(self) -> None:
        """None: its memory is the process's, of which nobody keeps an account here."""

    def put(self, array: np.ndarray[Any, Any], may_alias: bool = False) -> IreeBuffer:
        """The array in the device's memory.

        With `may_alias` and memory that suits the device (see `memory.aligned_empty`) nothing is
        copied; the caller then promises that nobody writes to the array any more.

        Raises:
            TypeError: the device has no such dtype.

        >>> cpu().put(np.ones(3, np.float32)).numpy()
        array([1., 1., 1.], dtype=float32)
        """
        view, is_own = self.view_of(array, may_alias)
        return IreeBuffer(view.ref, array.shape, array.dtype, self, is_own, view)

    def view_of(self, array: np.ndarray[Any, Any], may_alias: bool) -> tuple[Any, bool]:
        """A view of the array in the device's memory, and True if no array of NumPy's that others
        may have shares that.
        """
        element, plain = modules.forms_in_bytes(array.dtype)
        if element is None:
            raise modules.no_element_type(array.dtype, self)
        size = array.nbytes
        if may_alias and size >= _WORTH_ALIASING and _can_be_wrapped(array):
            return self._wrap(array, element), False
        if size >= _WORTH_ALIGNING:
            return self._filled(array, element), True
        contents = (array if array.flags.c_contiguous else array.copy("C")).view(plain)
        return self._allocate_copy(_MEMORY, _USAGE, self._device, contents, element), True

    def _wrap(self, array: np.ndarray[Any, Any], element: Any) -> Any:
        """A view of the array's own memory, which lives as long as the view."""
        if array.dtype in _SAME_IN_DLPACK:
            return self._device.from_dlpack_capsule(array.__dlpack__())
        octets = array.reshape(-1).view(np.uint8)  # DLPack does not have all dtypes
        octets_view = self._device.from_dlpack_capsule(octets.__dlpack__())
        return rt.HalBufferView(octets_view.get_buffer(), array.shape, element)

    def _filled(self, array: np.ndarray[Any, Any], element: Any) -> Any:
        """A copy in memory of IREE's, which a program may discard, as it may not a view's."""
        buffer = self._device.allocator.allocate_buffer(_MEMORY, _USAGE, array.nbytes)
        octets = buffer.map().asarray((array.nbytes,), np.dtype(np.uint8))
        np.copyto(octets.view(array.dtype).reshape(array.shape), array)
        return rt.HalBufferView(buffer, array.shape, element)

    def _free_kept_buffers(self) -> None:
        """Frees the buffers that are kept for reuse. A new program has sizes of its own, and
        buffers of sizes that nobody asks for any more would take the places of others.
        """
        for device in self._devices.values():
            device.allocator.trim()

    def load(self, artefact: bytes, entry: str | None = None) -> IreeExecutable:
        """A program compiled by the target `iree-cpu`, or any .vmfb for this processor.

        Args:
            artefact: the compiled module.
            entry: its function; may be left out where there is only one, or one called `main`.

        Raises:
            ValueError: the bytes are not a program for this processor, or it has no such function.
            MissingLibrary: it calls a library or a function that is not there.
        """
        module, entry = modules.load_module(self.instance, artefact, entry)
        self._free_kept_buffers()
        try:
            is_library = shared_library.is_shared_library(artefact)
            undefined = elf.undefined_symbols(artefact) if is_library else None
            return IreeExecutable(self, module, entry, undefined)
        except libraries.MissingLibrary:
            raise
        except RuntimeError as error:
            raise ValueError(f"not a program for this processor: {str(error)[:200]}") from None


def devices(platform: Platform) -> tuple[CpuDevice, ...]:
    """The devices of the platform `cpu`: one, or as many as `IRAX_CPU_DEVICES` says."""
    return tuple(cpu(number) for number in range(cpu_devices()))


def cpu(number: int = 0) -> CpuDevice:
    """The CPU device of a number."""
    return _opened(number)


@once
def _opened(number: int) -> CpuDevice:
    return CpuDevice(number)


def _can_be_wrapped(array: np.ndarray[Any, Any]) -> bool:
    # DLPack, as IREE speaks it, has no word for read-only memory.
    return array.flags.writeable and memory.is_aligned(array)
