"""IREE's CPU devices, through its HAL.

One `CpuDevice` stands for two of IREE's: `local-sync`, which runs in the calling thread and starts
in microseconds, and `local-task`, which uses all cores. They share buffers, and each program says
which one suits it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

import iree.runtime as rt
import numpy as np

from irax_runtime.signature import TensorType, dtype_of_name, parse_signature

_USAGE = int(rt.BufferUsage.DEFAULT) | int(rt.BufferUsage.MAPPING)
_MEMORY = int(rt.MemoryType.DEVICE_LOCAL)
_DRIVERS = {"sync": "local-sync", "task": "local-task"}

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
    device_kind = "cpu"
    process_index = 0

    def __init__(self, number: int = 0) -> None:
        _keep_freed_memory()
        self.id = number
        self._instance = rt.VmInstance()
        # Devices must outlive all buffers and contexts: this object is kept for good (`cpu`).
        self._devices = {
            kind: rt.get_driver(driver).create_default_device() for kind, driver in _DRIVERS.items()
        }
        self._modules = {
            kind: rt.create_hal_module(self._instance, device)
            for kind, device in self._devices.items()
        }

    def __repr__(self) -> str:
        return f"CpuDevice(id={self.id})"

    def __call__(self) -> CpuDevice:
        """Itself: `array.device()` is an old spelling of `array.device`."""
        return self

    def put(self, array: np.ndarray[Any, Any], may_alias: bool = False) -> IreeBuffer:
        """The array in the device's memory: without a copy if `may_alias` and it is aligned."""
        view = self._alias(array) if may_alias else None
        if view is None:
            view = self._copy(array)
        return IreeBuffer(view, array.shape, array.dtype, self)

    def _alias(self, array: np.ndarray[Any, Any]) -> Any:
        # Small arrays are copied faster than they are wrapped; unaligned ones must be.
        if array.nbytes < 4096 or array.ctypes.data % 64 or not array.flags.c_contiguous:
            return None
        if _plain(array.dtype) != array.dtype or array.dtype.kind not in "iuf":
            return None
        if not array.flags.writeable:  # DLPack has no word for read-only
            return None
        return self._devices["sync"].from_dlpack_capsule(array.__dlpack__())

    def _copy(self, array: np.ndarray[Any, Any]) -> Any:
        of_dtype, _ = _element_types()
        if array.dtype not in of_dtype:
            raise TypeError(f"a CPU device takes no arrays of dtype {array.dtype}")
        device = self._devices["sync"]
        contents = np.ascontiguousarray(array).reshape(array.shape)
        return device.allocator.allocate_buffer_copy(
            memory_type=_MEMORY,
            allowed_usage=_USAGE,
            device=device,
            buffer=contents.view(_plain(contents.dtype)),
            element_type=of_dtype[array.dtype],
        )

    def load(self, artefact: bytes, entry: str | None = None) -> IreeExecutable:
        """A program compiled by the target `iree-cpu`, or any .vmfb for this processor.

        Raises:
            ValueError: the bytes are not such a program, or it has no function `entry`.
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
        return IreeExecutable(self, module, entry)


@cache
def cpu() -> CpuDevice:
    """The CPU device of this process."""
    return CpuDevice()


class IreeBuffer:
    """An array in the memory of an IREE device."""

    __slots__ = ("_numpy", "device", "dtype", "shape", "view")

    def __init__(
        self, view: Any, shape: tuple[int, ...], dtype: np.dtype[Any], device: CpuDevice
    ) -> None:
        self.view = view
        self.shape = shape
        self.dtype = dtype
        self.device = device
        self._numpy: np.ndarray[Any, Any] | None = None

    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements, as a read-only view of the buffer's own memory."""
        if self._numpy is None:
            self._numpy = np.asarray(_Memory(self)).view(self.dtype)
        return self._numpy


class _Memory:
    """What a NumPy array over a buffer is based on: keeps the buffer, which a mapping does not."""

    __slots__ = ("__array_interface__", "_kept")

    def __init__(self, buffer: IreeBuffer) -> None:
        bits = _plain(buffer.dtype)
        mapping = buffer.view.map()
        self._kept = (buffer.view, mapping)
        self.__array_interface__ = {
            "data": (mapping.asarray(list(buffer.shape), bits).ctypes.data, True),
            "shape": buffer.shape,
            "typestr": bits.str,
            "version": 3,
        }


class IreeExecutable:
    """A function of a compiled IREE module."""

    def __init__(self, device: CpuDevice, module: Any, name: str) -> None:
        self.device = device
        self.name = name
        self._function = module.lookup_function(name)
        reflection = self._function.reflection
        driver = reflection.get("irax.driver", "task")
        self._context = rt.VmContext(device._instance, [device._modules[driver], module])
        self.arguments = _signature(reflection, "irax.args")
        self.results = _signature(reflection, "irax.results")
        self._num_results = len(self.results or ()) or 4

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        """Runs the function.

        Raises:
            TypeError: the wrong number of arguments, or one of another dtype.
            ValueError: an argument of another shape.
            RuntimeError: the program failed.
        """
        if self.arguments is not None:
            self._check(arguments, self.arguments)
        return self.run(arguments)

    def run(self, arguments: Sequence[Any]) -> list[Any]:
        """The same, unchecked: for callers who know that the arguments fit."""
        inputs = rt.VmVariantList(len(arguments))
        for argument in arguments:
            inputs.push_ref(argument.view)
        outputs = rt.VmVariantList(self._num_results)
        self._context.invoke(self._function, inputs, outputs)
        if self.results is None:
            return [self._untyped_result(outputs, i) for i in range(len(outputs))]
        device = self.device
        return [
            IreeBuffer(outputs.get_as_object(i, rt.HalBufferView), type_.shape, type_.dtype, device)
            for i, type_ in enumerate(self.results)
        ]

    def _untyped_result(self, outputs: Any, i: int) -> IreeBuffer:
        view = outputs.get_as_object(i, rt.HalBufferView)
        _, of_element = _element_types()
        return IreeBuffer(view, tuple(view.shape), of_element[int(view.element_type)], self.device)

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


def _plain(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A dtype of NumPy's own of the same width: those of ml_dtypes have no buffer protocol."""
    return dtype if dtype.isbuiltin == 1 else np.dtype(f"u{dtype.itemsize}")


def _signature(reflection: dict[str, str], key: str) -> list[TensorType] | None:
    return parse_signature(reflection[key]) if key in reflection else None


def _keep_freed_memory() -> None:
    """Tells glibc to keep large freed blocks: fresh pages cost more than most programs on them."""
    if sys.platform != "linux":
        return
    m_trim_threshold, m_mmap_threshold = -1, -3
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:  # not glibc
        return
    mallopt(m_mmap_threshold, 1 << 30)
    mallopt(m_trim_threshold, 512 << 20)
