"""Python's buffer protocol for classes written in Python, on Python 3.11.

From Python 3.12 on a class has it by a method `__buffer__`. Before, only types written in C have:
the slot of the class is filled here with a function that passes each request on to a NumPy array.
"""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

_POINTERS_BEFORE = 17
"""The pointers of CPython's PyTypeObject between its header and `tp_as_buffer`."""

_HEADER: int = object.__basicsize__ + ctypes.sizeof(ctypes.c_ssize_t)  # with `ob_size`
_SLOT = _HEADER + _POINTERS_BEFORE * ctypes.sizeof(ctypes.c_void_p)

_request = ctypes.pythonapi.PyObject_GetBuffer
_request.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
_request.restype = ctypes.c_int

_Function = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)
_DONE = 718281828
"""The number by which a function says that it has passed a request on."""
_given: list[Any] = []
"""The functions in slots: Python must not free them."""


def give_buffers(kind: type, exporter: Callable[[Any], Any]) -> None:
    """Give a class the buffer protocol: requests go to the object that `exporter` returns.

    Where `exporter` or that object refuses, callers see a refusal without its reason: ctypes cannot
    pass an exception on. Subclasses made before do not have it.
    """

    def buffer_of(x: Any, view: int, flags: int) -> int:
        try:
            return _DONE if _request(exporter(x), view, flags) == 0 else 0
        except BaseException:
            return 0

    # Ctrl-C may arrive before `try`, and ctypes then returns any number, 0 for success too. So this
    # function has a number of its own for that. What compares with it is written in C, where no
    # exception arrives: another number becomes -1.
    compared = _Function(buffer_of)
    compared.restype = partial(operator.ne, _DONE)
    negated = _Function(compared)
    negated.restype = operator.neg
    function = _Function(negated)
    _given.extend([compared, negated, function])
    functions = ctypes.c_void_p.from_address(id(kind) + _SLOT).value
    assert functions is not None
    # The first of the two is `bf_getbuffer`; what is exported releases itself.
    ctypes.c_void_p.from_address(functions).value = ctypes.cast(function, ctypes.c_void_p).value
