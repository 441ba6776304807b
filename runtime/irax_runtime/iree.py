"""IREE's CPU devices, through its HAL.

One `CpuDevice` stands for two of IREE's: `local-sync`, which runs in the calling thread and starts
in microseconds, and `local-task`, which uses all cores. They share buffers, and each program says
which one suits it.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
import weakref
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import iree.runtime as rt
import numpy as np
from iree.runtime._binding import disable_leak_checker

from irax_runtime import (
    elf,
    host,
    interruptible,
    libraries,
    memory,
    meter,
    shared_library,
    threads,
)
from irax_runtime import iree_modules as modules
from irax_runtime.choice import Choice
from irax_runtime.communication import current, mpi
from irax_runtime.device import OneMemory, OutOfMemoryError
from irax_runtime.devices import PlatformClient, numbered
from irax_runtime.iree_modules import plain
from irax_runtime.once import once
from irax_runtime.platforms import Platform, cpu_devices
from irax_runtime.signature import TensorType

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

_unusable_contexts: list[Any] = []


class CpuDevice(OneMemory):
    """The processor this runs on."""

    platform = "cpu"
    target = "iree-cpu"
    compiler = None
    device_kind = "cpu"
    driver = modules.DRIVER

    def __init__(self, number: int = 0) -> None:
        memory.keep_freed_memory()
        self.process_index = current.of_process().rank
        self.id = self.process_index * cpu_devices() + number
        workers = threads.count()
        rt.flags.parse_flags(
            f"--task_worker_stack_size={_STACK_SIZE}",
            # Threads that no processor is fixed for: where other processes are busy, a thread
            # that waits for its own processor holds up the whole program.
            f"--task_topology_group_count={workers}",
        )
        self._instance = rt.VmInstance()
        allocators = memory.keeping_freed_buffers()
        with mpi.hidden():
            self._devices = {
                kind: rt.get_driver(driver).create_default_device(allocators)
                for kind, driver in _DRIVERS.items()
            }
        # A device must outlive its buffers, also those that NumPy arrays hold when Python exits:
        # it is never freed, and the bindings must not complain about that.
        disable_leak_checker()
        for device in self._devices.values():
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(device))
        self._modules = {
            kind: rt.create_hal_module(self._instance, device)
            for kind, device in self._devices.items()
        }
        if workers == 1:  # then the calling thread does the work by itself
            self._modules["task"] = self._modules["sync"]
        self._executables: weakref.WeakSet[IreeExecutable] = weakref.WeakSet()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._do_without_threads)

    def _do_without_threads(self) -> None:
        """In a forked process, which has none of this one's threads: a program would wait for them
        for ever. All programs run in the calling thread there.
        """
        self._modules["task"] = self._modules["sync"]
        for executable in self._executables:
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
        element = modules.element_type(array.dtype, self)
        size = array.nbytes
        is_own = not (may_alias and size >= _WORTH_ALIASING and _can_be_wrapped(array))
        if not is_own:
            view = self._wrap(array, element)
        elif size >= _WORTH_ALIGNING:
            view = self._wrap(memory.aligned_copy(array), element)
        else:
            view = self._copy(array, element)
        return IreeBuffer(view.ref, array.shape, array.dtype, self, is_own)

    def _wrap(self, array: np.ndarray[Any, Any], element: Any) -> Any:
        """A view of the array's own memory, which lives as long as the view."""
        octets = array.reshape(-1).view(np.uint8)  # DLPack does not have all dtypes
        octets_view = self._devices["sync"].from_dlpack_capsule(octets.__dlpack__())
        return rt.HalBufferView(octets_view.get_buffer(), array.shape, element)

    def _copy(self, array: np.ndarray[Any, Any], element: Any) -> Any:
        device = self._devices["sync"]
        contents = array if array.flags.c_contiguous else array.copy("C")
        return device.allocator.allocate_buffer_copy(
            memory_type=_MEMORY,
            allowed_usage=_USAGE,
            device=device,
            buffer=contents.view(plain(contents.dtype)),
            element_type=element,
        )

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
        module, entry = modules.load_module(self._instance, artefact, entry)
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


class IreeBuffer:
    """An array in the memory of an IREE device."""

    __slots__ = ("_is_own", "_numpy", "device", "dtype", "ref", "shape")

    def __init__(
        self,
        ref: Any,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        device: CpuDevice,
        is_own: bool = False,
    ) -> None:
        self.ref: Any = ref
        """IREE's reference to its view of the memory; None if it was deleted."""
        self.shape = shape
        self.dtype = dtype
        self.device = device
        self._is_own = is_own
        self._numpy: np.ndarray[Any, Any] | None = None

    def __repr__(self) -> str:
        return f"<{TensorType(self.dtype, self.shape)} on {self.device!r}>"

    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements, as a read-only view of the buffer's own memory. Raises RuntimeError if it
        was deleted.
        """
        if self._numpy is None:
            self.check()
            view = self.ref.deref(rt.HalBufferView)
            stand_in = plain(self.dtype)
            if stand_in is not self.dtype:  # DLPack does not have this dtype
                element = modules.element_type(stand_in, self.device)
                view = rt.HalBufferView(view.get_buffer(), self.shape, element)
            capsule = self.device._devices["sync"].create_dlpack_capsule(view, *_Exported.DEVICE)
            self._numpy = np.from_dlpack(_Exported(capsule)).view(self.dtype)
        return self._numpy

    def wait(self) -> None:
        """Nothing: a program's results are complete when its call returns."""

    @property
    def is_exclusive(self) -> bool:
        """True if nothing else has the memory: no other buffer, and no array of NumPy's."""
        return self._is_own and self._numpy is None

    def delete(self) -> None:
        """Give the memory up. Arrays of NumPy's that share it keep it."""
        self.ref = self._numpy = None

    def is_deleted(self) -> bool:
        """Return True if it was deleted, or donated to a call."""
        return self.ref is None

    def check(self) -> None:
        """Raises RuntimeError if it was deleted."""
        if self.ref is None:
            raise RuntimeError(
                f"{TensorType(self.dtype, self.shape)} was used after its memory had been given "
                "up: it was deleted or donated to a call"
            )

    def is_ready(self) -> bool:
        """True: a program's results are complete when its call returns."""
        return True


class _Exported:
    """A DLPack capsule in the form that NumPy takes it. NumPy holds what it describes as
    read-only, and keeps the memory for as long as there are arrays of it.
    """

    __slots__ = ("_capsule",)
    DEVICE = (1, 0)  # DLPack's numbers of the CPU

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.DEVICE


class IreeExecutable:
    """A function of a compiled IREE module. Any number of threads may call it at a time."""

    def __init__(
        self, device: CpuDevice, module: Any, name: str, undefined: Collection[str] | None
    ) -> None:
        """`undefined` has the symbols that a program expects to find, if it is a shared library."""
        self.device = device
        self.name = name
        self._module = module
        self._function = module.lookup_function(name)
        reflection = self._function.reflection
        driver = reflection.get("irax.driver", "task")
        if driver not in _DRIVERS:
            raise ValueError(f"irax.driver is {driver!r}; expected one of {', '.join(_DRIVERS)}")
        self._driver = driver
        self._choice = Choice("task", "sync")
        takes, imports = reflection.get("irax.takes"), reflection.get("irax.host")
        has_imports = imports is not None or "irax.meter" in reflection
        self._host = [self._host_module(imports or "[]")] if has_imports else []
        loaded = libraries.load(reflection.get("irax.libraries", ""))
        libraries.load_functions(reflection.get("irax.functions", "[]"))
        self._is_shared_library = undefined is not None
        if undefined is not None:
            shared_library.check(undefined, loaded)
        # A context serves one call at a time; each call takes one that is free, or makes one more.
        self._contexts: dict[str, list[Any]] = {driver: [] for driver in _DRIVERS}
        self._contexts[driver].append(self._context(driver))
        self.arguments = modules.signature(reflection, "irax.args")
        self.results = modules.signature(reflection, "irax.results")
        self._num_results = len(self.results or ()) or 4
        self._takes_list = "irax.lists" in reflection
        self._donated = _numbers(reflection, "irax.donated")
        self._in_place = _numbers(reflection, "irax.in_place")
        self._is_long = False
        self._run = self._await
        if takes == "moments":
            self._run = self._invoke if driver == "sync" else self._invoke_by_faster
        elif takes == "metered" and driver == "sync":
            acts = imports or self._in_place or "irax.functions" in reflection
            self._run = self._await if acts else self._invoke_metered  # which may run it twice
        own = _numbers(reflection, "irax.own")
        self._is_own = [i in own for i in range(self._num_results)]
        device._executables.add(self)

    def _context(self, driver: str) -> Any:
        modules = [self.device._modules[driver], *self._host, self._module]
        with shared_library.loading() if self._is_shared_library else nullcontext():
            return rt.VmContext(self.device._instance, modules)

    def _host_module(self, imports: str) -> Any:
        device = self.device

        def wrap(reference: Any, type_: TensorType) -> IreeBuffer:
            return IreeBuffer(reference, type_.shape, type_.dtype, device)

        return host.host_module(imports, wrap, lambda array: device.put(array, may_alias=True))

    def forget_contexts(self) -> None:
        """Makes new contexts from now on. Those that there are stay, unused: to free them could
        mean to wait for threads.
        """
        for contexts in self._contexts.values():
            _unusable_contexts.extend(contexts)
            contexts.clear()

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        """Runs the function.

        Raises:
            TypeError: the wrong number of arguments, or one of another dtype.
            ValueError: an argument of another shape.
            RuntimeError: the program failed; an OutOfMemoryError where memory was what lacked.
            Exception: whatever a function of the user's raised, which the program called.
        """
        if self.arguments is not None:
            modules.check(self.name, arguments, self.arguments)
        return self.run(arguments)

    def run(self, arguments: Sequence[Any]) -> list[Any]:
        """Run without checking the arguments, deleted ones aside: for callers that know that they
        fit.
        """
        given = self._writable(arguments) if self._in_place else arguments
        inputs = rt.VmVariantList(len(given))
        try:
            for argument in given:
                inputs.push_ref(argument.ref)
        except TypeError:
            for argument in given:
                argument.check()
            raise
        if self._takes_list:
            inputs = _listed(inputs)
        outputs = rt.VmVariantList(self._num_results)
        try:
            self._run(inputs, outputs)
        except RuntimeError as failure:
            raise (host.take_error() or self._error(failure)) from None
        if self._takes_list:
            outputs = outputs.get_as_list(0)
        for i in self._donated:
            if _is_once(arguments, i):
                arguments[i].delete()
        if self.results is None:
            return [self._untyped_result(outputs, i) for i in range(len(outputs))]
        device = self.device
        return [
            IreeBuffer(outputs.get_as_ref(i), type_.shape, type_.dtype, device, self._is_own[i])
            for i, type_ in enumerate(self.results)
        ]

    def _writable(self, arguments: Sequence[Any]) -> list[Any]:
        """Return the arguments, with copies of those that the program writes to and that others may
        read.
        """
        given = list(arguments)
        for i in self._in_place:
            if not (given[i].is_exclusive and _is_once(arguments, i)):
                given[i] = self.device.put(given[i].numpy())
        return given

    def _invoke(self, inputs: Any, outputs: Any) -> None:
        driver = self._driver
        context = self._take_context(driver)
        try:
            context.invoke(self._function, inputs, outputs)
        finally:
            self._contexts[driver].append(context)

    def _invoke_by_faster(self, inputs: Any, outputs: Any) -> None:
        """Run with several threads or with one, whichever has been faster."""
        driver = self._choice.next()
        context = self._take_context(driver)
        start = time.perf_counter()
        try:
            context.invoke(self._function, inputs, outputs)
        finally:
            self._contexts[driver].append(context)
        self._choice.tell(driver, time.perf_counter() - start)

    def _take_context(self, driver: str) -> Any:
        try:
            return self._contexts[driver].pop()
        except IndexError:
            return self._context(driver)

    def _await(self, inputs: Any, outputs: Any) -> None:
        """Run in a way that Ctrl-C ends."""
        interruptible.run(self._invoke, inputs, outputs)

    def _invoke_metered(self, inputs: Any, outputs: Any) -> None:
        """Run in the calling thread, if the last call was short. A call that is not starts anew, in
        a way that Ctrl-C ends.
        """
        if not self._is_long and threading.current_thread() is threading.main_thread():
            self._is_long = meter.ran_out(self._invoke, inputs, outputs)
            if not self._is_long:
                return
        start = time.perf_counter_ns()
        self._await(inputs, outputs)
        self._is_long = time.perf_counter_ns() - start > meter.BRIEF // 4  # estimates are rough

    def _error(self, failure: RuntimeError) -> RuntimeError:
        """The exception to raise for an error of IREE's."""
        text = str(failure)
        if "RESOURCE_EXHAUSTED" not in text:
            return failure
        return OutOfMemoryError(f"{self.device!r} does not have the memory: {text}")

    def _untyped_result(self, outputs: Any, i: int) -> IreeBuffer:
        view = outputs.get_as_object(i, rt.HalBufferView)
        type_ = modules.type_of_view(view)
        return IreeBuffer(view.ref, type_.shape, type_.dtype, self.device)


def _numbers(reflection: Mapping[str, str], name: str) -> list[int]:
    """Return the numbers that a reflection attribute lists."""
    return [int(word) for word in reflection.get(name, "").split(",") if word]


def _is_once(arguments: Sequence[Any], i: int) -> bool:
    """Return True if an argument is no other argument, too."""
    return sum(other is arguments[i] for other in arguments) == 1


def _listed(values: Any) -> Any:
    """A list that has one element, a list."""
    outer = rt.VmVariantList(1)
    outer.push_list(values)
    return outer


def _can_be_wrapped(array: np.ndarray[Any, Any]) -> bool:
    # DLPack, as IREE speaks it, has no word for read-only memory.
    return memory.is_aligned(array) and array.flags.writeable
