"""The array API standard's inspection of a namespace: its dtypes, devices and capabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax import dtypes
from irax.execution import backend
from irax.numpy.kinds import isdtype

__array_api_version__ = "2025.12"
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", __array_api_version__)
"""The versions of the standard that this namespace supports."""

_NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)


class NamespaceInfo:
    """The array API standard's inspection object, as `__array_namespace_info__` returns it."""

    def capabilities(self) -> dict[str, Any]:
        """Return the optional parts of the standard that are supported outside of `jit`."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """Return the device that arrays are on by default."""
        return backend.current_device()

    def devices(self) -> tuple[Any, ...]:
        """Return all devices."""
        return tuple(backend.devices())

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the default dtypes, which are the same on every device."""
        _check_device(device, "default_dtypes")
        return {
            "real floating": dtypes.default_float(),
            "complex floating": dtypes.default_complex(),
            "integral": dtypes.default_int(),
            "indexing": dtypes.default_int(),
        }

    def dtypes(
        self, *, device: Any = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, np.dtype[Any]]:
        """Return the standard's dtypes that arrays can have, by name: all, or those of a kind."""
        _check_device(device, "dtypes")
        there = {name: np.dtype(name) for name in _NAMES}
        return {
            name: dtype
            for name, dtype in there.items()
            if dtypes.canonicalize_dtype(dtype) == dtype and (kind is None or isdtype(dtype, kind))
        }


def _check_device(device: Any, what: str) -> None:
    if device is not None:
        backend.check_device(device, f"{what}: device")
        backend.resolve_device(device)


def __array_namespace_info__() -> NamespaceInfo:
    """Return the array API standard's inspection object of the namespace.

    >>> irax.numpy.__array_namespace_info__().default_dtypes()["real floating"]
    dtype('float32')
    """
    return NamespaceInfo()
