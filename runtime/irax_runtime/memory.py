"""NumPy memory that devices can use where it is, and what the C library does with memory."""

from __future__ import annotations

import ctypes
import os
import sys
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

ALIGNMENT = 64
"""Bytes: compiled code reads whole cache lines, and crashes on memory that does not begin one."""

_LARGE = 4 << 10
"""Bytes of an array from which to align a copy takes less time than to copy it again."""


def aligned_empty(shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray[Any, Any]:
    """An uninitialised array whose first element lies at a multiple of `ALIGNMENT`.

    >>> aligned_empty((2, 3), np.float32).ctypes.data % ALIGNMENT
    0
    """
    dtype = np.dtype(dtype)
    memory = np.empty(prod(shape) * dtype.itemsize + ALIGNMENT, np.uint8)
    return np.ndarray(shape, dtype, memory, -_address(memory) % ALIGNMENT)


def aligned_copy(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A C-contiguous copy that a device can use where it is.

    >>> is_aligned(aligned_copy(np.arange(6.0).reshape(2, 3).T))
    True
    """
    copy = aligned_empty(array.shape, array.dtype)
    np.copyto(copy, array)
    return copy


def own_copy(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A C-contiguous copy in a dtype. Devices can use that of a large array where it is.

    >>> own_copy(np.ones(2), np.dtype("float32"))
    array([1., 1.], dtype=float32)
    """
    if array.nbytes < _LARGE:
        return np.array(array, dtype, order="C", copy=True)
    copy = aligned_empty(array.shape, dtype)
    np.copyto(copy, array, casting="unsafe")
    return copy


def is_aligned(array: np.ndarray[Any, Any]) -> bool:
    """Return True if a device can use the array's memory where it is."""
    return array.flags.c_contiguous and array.ctypes.data % ALIGNMENT == 0


def _address(octets: np.ndarray[Any, Any]) -> int:
    """The address of writable bytes, in a third of the time that `ctypes` of an array takes."""
    return ctypes.addressof(ctypes.c_char.from_buffer(octets.data))


def is_held_once(array: np.ndarray[Any, Any]) -> bool:
    """Return True if an array, which is an attribute, is referred to by nothing else, and its
    memory is NumPy's and no other array's.

    >>> x = SimpleNamespace(elements=np.ones(3))
    >>> is_held_once(x.elements)
    True
    >>> y = x.elements[1:]
    >>> is_held_once(x.elements)
    False
    """
    if array.flags.owndata:
        return _references(array) == _OF_OWNER
    owns = isinstance(array.base, np.ndarray) and array.base.flags.owndata
    return owns and _references(array) == _OF_VIEW


def _references(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    """Return the number of references to an array, and to that whose memory it has."""
    return sys.getrefcount(array), 0 if array.base is None else sys.getrefcount(array.base)


def _least_references(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    return _references(array)  # one call deeper, as in `is_held_once`


_new = SimpleNamespace(owner=np.empty(1), view=np.empty(1)[:])
_OF_OWNER = _least_references(_new.owner)
_OF_VIEW = _least_references(_new.view)


def keep_freed_memory() -> None:
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


CAPACITY = 2 << 30
"""The most bytes of freed buffers that a device keeps."""
FREED = 1024
"""The most freed buffers that a device keeps."""


def keeping_freed_buffers() -> list[Any]:
    """Return the allocator of a device, as IREE specifies one, that keeps freed buffers for others
    of their sizes. Without it, IREE fills each buffer with zeros before a program writes to it.
    """
    capacity = CAPACITY
    if hasattr(os, "sysconf"):
        capacity = min(capacity, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 8)
    return [f"caching:*=*;{capacity};{FREED}"]
