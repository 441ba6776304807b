"""Arrays that share their memory with those of other libraries: the DLPack protocol."""

from __future__ import annotations

from typing import Any

from irax.core.array import Array
from irax.numpy import dlpack as _dlpack
from irax.numpy.dlpack import is_supported_dtype as is_supported_dtype


def from_dlpack(external_array: Any, device: Any = None, copy: bool | None = None) -> Array:
    """Import an array of another library, as `irax.numpy.from_dlpack` does.

    Args:
        external_array: an object with the methods `__dlpack__` and `__dlpack_device__`.
        device: the device to put the result on.
        copy: True for a copy, False for an error where one is needed.

    Raises:
        TypeError: no such object.

    >>> irax.dlpack.from_dlpack(np.arange(3, dtype="int32"))
    Array([0, 1, 2], dtype=int32)
    """
    return _dlpack.from_dlpack(external_array, device=device, copy=copy)
