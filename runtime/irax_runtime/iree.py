"""IREE's CPU devices, through its HAL.

One `CpuDevice` stands for two of IREE's: `local-sync`, which runs in the calling thread and starts
in microseconds, and `local-task`, which uses all cores. They share buffers, and each program says
which one suits it.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Sequence
from functools import cache
from typing import Any

import iree.runtime as rt
import numpy as np
from iree.runtime._binding import disable_leak_checker

from irax_runtime import host, memory, shared_library
from irax_runtime.signature import TensorType, dtype_of_name, parse_signature

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

_ELEMENT_NAMES = {
    "BOOL_8": "i1",
    **{f"{kind}INT_{n}": f"i{n}" for kind in ("", "S") for n in (8, 16, 32, 64)},
    **{f"UINT_{n}": f"ui{n}" for n in (8, 16, 32, 64)},
    "FLOAT_16": "f16",
    "FLOAT_32": "f32",
    "FLOAT_64": "f64",
    "BFLOAT_16": "bf16",
    "COMPLEX_64": "complex<f32>",
    "COMPLEX_128": "complex<f64>",
    "FLOAT_8_E4M3_FN": "f8E4M3FN",
    "FLOAT_8_E5M2": "f8E5M2",
    "FLOAT_8_E4M3_FNUZ": "f8E4M3FNUZ",
    "FLOAT_8_E5M2_FNUZ": "f8E5M2FNUZ",
}

_unusable_contexts: list[Any] = []


@cache
def _element_types() -> tuple[dict[np.dtype[Any], Any], dict[int, np.dtype[Any]]]:
    """IREE's element types by dtype, and the other way round."""
    of_dtype: dict[np.dtype[Any], Any] = {}
    of_element: dict[int, np.dtype[Any]] = {}
    for name, spelling in _ELEMENT_NAMES.items():
        element = getattr(rt.HalElementType, name, None)
        if element is None:
            continue
        try:
            dtype = dtype_of_name(spelling)
        except ImportError:  # no ml_dtypes: no arrays of its dtypes either
            continue
        of_dtype.setdefault(dtype, element)
        of_element[int(element)] = dtype
    return of_dtype, of_element


class CpuDevice:
    """The processor this runs on."""

    platform = "cpu"
    target = "iree-cpu"
    compiler = None
    device_kind = "cpu"
    process_index = 0

    def __init__(self, number: int = 0) -> None:
        memory.keep_freed_memory()
        self.id = number
        rt.flags.parse_flags(f"--task_worker_stack_size={_STACK_SIZE}")
        self._instance = rt.VmInstance()
        self._devices = {
            kind: rt.get_driver(driver).create_default_device() for kind, driver in _DRIVERS.items()
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
        element = _element_types()[0].get(array.dtype)
        if element is None:
            raise TypeError(f"put: a CPU device takes no arrays of dtype {array.dtype}")
        size = array.nbytes
        if may_alias and size >= _WORTH_ALIASING and _can_be_wrapped(array):
            view = self._wrap(array, element)
        elif size >= _WORTH_ALIGNING:
            view = self._wrap(memory.aligned_copy(array), element)
        else:
            view = self._copy(array, element)
        return IreeBuffer(view.ref, array.shape, array.dtype, self)

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
            buffer=contents.view(_plain(contents.dtype)),
            element_type=element,
        )

    def load(self, artefact: bytes, entry: str | None = None) -> IreeExecutable:
        """A program compiled by the target `iree-cpu`, or any .vmfb for this processor.

        Args:
            artefact: the compiled module.
            entry: its function; may be left out where there is only one, or one called `main`.

        Raises:
            ValueError: the bytes are not a program for this processor, or it has no such function.
        """
        try:
            module = rt.VmModule.copy_buffer(self._instance, artefact)
        except (RuntimeError, ValueError) as error:
            raise ValueError(f"not a compiled IREE module: {error}") from None
        names = [n for n in module.function_names if not n.startswith("__")]
        if entry is None:
            entry = "main" if "main" in names else names[0] if len(names) == 1 else None
        if entry not in names:
            raise ValueError(
                f"the program has no function {entry or 'main'}; it has "
                f"{', '.join(names) or 'none'}"
            )
        try:
            return IreeExecutable(self, module, entry, shared_library.is_shared_library(artefact))
        except RuntimeError as error:
            raise ValueError(f"not a program for this processor: {str(error)[:200]}") from None


@cache
def cpu() -> CpuDevice:
    """The CPU device of this process."""
    return CpuDevice()


class IreeBuffer:
    """An array in the memory of an IREE device."""

    __slots__ = ("_numpy", "device", "dtype", "ref", "shape")

    def __init__(
        self, ref: Any, shape: tuple[int, ...], dtype: np.dtype[Any], device: CpuDevice
    ) -> None:
        self.ref = ref
        """IREE's reference to its view of the memory."""
        self.shape = shape
        self.dtype = dtype
        self.device = device
        self._numpy: np.ndarray[Any, Any] | None = None

    def __repr__(self) -> str:
        return f"<{TensorType(self.dtype, self.shape)} on {self.device!r}>"

    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements, as a read-only view of the buffer's own memory."""
        if self._numpy is None:
            view = self.ref.deref(rt.HalBufferView)
            plain = _plain(self.dtype)
            if plain is not self.dtype:  # DLPack does not have this dtype
                element = _element_types()[0][plain]
                view = rt.HalBufferView(view.get_buffer(), self.shape, element)
            capsule = self.device._devices["sync"].create_dlpack_capsule(view, *_Exported.DEVICE)
            self._numpy = np.from_dlpack(_Exported(capsule)).view(self.dtype)
        return self._numpy

    def wait(self) -> None:
        """Nothing: a program's results are complete when its call returns."""

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

    def __init__(self, device: CpuDevice, module: Any, name: str, is_shared_library: bool) -> None:
        self.device = device
        self.name = name
        self._module = module
        self._function = module.lookup_function(name)
        reflection = self._function.reflection
        driver = reflection.get("irax.driver", "task")
        if driver not in _DRIVERS:
            raise ValueError(f"irax.driver is {driver!r}; expected one of {', '.join(_DRIVERS)}")
        self._driver = driver
        imports = reflection.get("irax.host")
        self._host = [] if imports is None else [self._host_module(imports)]
        self._is_shared_library = is_shared_library
        # A context serves one call at a time; each call takes one that is free, or makes one more.
        self._contexts = [self._context()]
        self.arguments = _signature(reflection, "irax.args")
        self.results = _signature(reflection, "irax.results")
        self._num_results = len(self.results or ()) or 4
        device._executables.add(self)

    def _context(self) -> Any:
        if self._is_shared_library:
            shared_library.provide_libm()
        modules = [self.device._modules[self._driver], *self._host, self._module]
        context = rt.VmContext(self.device._instance, modules)
        if self._is_shared_library:
            shared_library.remove_placeholders()
        return context

    def _host_module(self, imports: str) -> Any:
        device = self.device

        def wrap(reference: Any, type_: TensorType) -> IreeBuffer:
            return IreeBuffer(reference, type_.shape, type_.dtype, device)

        return host.host_module(imports, wrap, lambda array: device.put(array, may_alias=True))

    def forget_contexts(self) -> None:
        """Makes new contexts from now on. Those that there are stay, unused: to free them could
        mean to wait for threads.
        """
        _unusable_contexts.extend(self._contexts)
        self._contexts.clear()

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        """Runs the function.

        Raises:
            TypeError: the wrong number of arguments, or one of another dtype.
            ValueError: an argument of another shape.
            RuntimeError: the program failed.
            Exception: whatever a function of the user's raised, which the program called.
        """
        if self.arguments is not None:
            self._check(arguments, self.arguments)
        return self.run(arguments)

    def run(self, arguments: Sequence[Any]) -> list[Any]:
        """The same, unchecked: for callers who know that the arguments fit."""
        inputs = rt.VmVariantList(len(arguments))
        for argument in arguments:
            inputs.push_ref(argument.ref)
        outputs = rt.VmVariantList(self._num_results)
        try:
            context = self._contexts.pop()
        except IndexError:
            context = self._context()
        try:
            context.invoke(self._function, inputs, outputs)
        except RuntimeError as failure:
            error = host.take_error()
            raise (failure if error is None else error) from None
        finally:
            self._contexts.append(context)
        if self.results is None:
            return [self._untyped_result(outputs, i) for i in range(len(outputs))]
        device = self.device
        return [
            IreeBuffer(outputs.get_as_ref(i), type_.shape, type_.dtype, device)
            for i, type_ in enumerate(self.results)
        ]

    def _untyped_result(self, outputs: Any, i: int) -> IreeBuffer:
        view = outputs.get_as_object(i, rt.HalBufferView)
        dtype = _element_types()[1][int(view.element_type)]
        return IreeBuffer(view.ref, tuple(view.shape), dtype, self.device)

    def _check(self, arguments: Sequence[IreeBuffer], expected: list[TensorType]) -> None:
        if len(arguments) != len(expected):
            raise TypeError(f"{self.name} takes {len(expected)} arguments, got {len(arguments)}")
        for i, (argument, type_) in enumerate(zip(arguments, expected, strict=True)):
            if argument.dtype is not type_.dtype and argument.dtype != type_.dtype:
                raise TypeError(
                    f"{self.name}: argument {i} has dtype {argument.dtype}; expected {type_}"
                )
            if argument.shape != type_.shape:
                raise ValueError(
                    f"{self.name}: argument {i} has shape {argument.shape}; expected {type_}"
                )


def _can_be_wrapped(array: np.ndarray[Any, Any]) -> bool:
    # DLPack, as IREE speaks it, has no word for read-only memory.
    return memory.is_aligned(array) and array.flags.writeable


def _plain(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A dtype of NumPy's own of the same width: those of ml_dtypes have no buffer protocol."""
    # Not `== 1`: of dtypes that were unpickled, NumPy's own too, it is 0.
    return np.dtype(f"u{dtype.itemsize}") if dtype.isbuiltin == 2 else dtype


def _signature(reflection: dict[str, str], key: str) -> list[TensorType] | None:
    return parse_signature(reflection[key]) if key in reflection else None
