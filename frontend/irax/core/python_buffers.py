"""Python's buffer protocol for classes written in Python, on Python 3.11.

From Python 3.12 on a class has it by a method `__buffer__`. Before, only types written in C have:
the slot of the class is filled here with a function that passes each request on to a NumPy array.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

_POINTERS_BEFORE = 17
"""The pointers of CPython's PyTypeObject between its header and `tp_as_buffer`."""

_HEADER: int = object.__basicsize__ + ctypes.sizeof(ctypes.c_ssize_t)  # with `ob_size`
_SLOT = _HEADER + _POINTERS_BEFORE * ctypes.sizeof(ctypes.c_void_p)

_request = ctypes.pythonapi.PyObject_GetBuffer
_request.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
_request.restype = ctypes.c_int

_Function = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)
_given: list[Any] = []
"""The functions in slots: Python must not free them."""


def give_buffers(kind: type, exporter: Callable[[Any], Any]) -> None:
    """Give a class the buffer protocol: requests go to the object that `exporter` returns.

    Where `exporter` or that object refuses, callers see a refusal without its reason: ctypes cannot
    pass an exception on. Subclasses made before do not have it.
    """

    def buffer_of(x: Any, view: int, flags: int) -> int:
        try:
            return _request(exporter(x), view, flags)
        except BaseException:
            return -1

    function = _Function(buffer_of)
    _given.append(function)
    functions = ctypes.c_void_p.from_address(id(kind) + _SLOT).value
    assert functions is not None
    # The first of the two is `bf_getbuffer`; what is exported releases itself.
    ctypes.c_void_p.from_address(functions).value = ctypes.cast(function, ctypes.c_void_p).value
