"""The functions by which a plugin reads and writes a store that all processes of a job see."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from irax_runtime.communication.store import Store
from irax_runtime.pjrt import abi
from irax_runtime.pjrt.api import text

_Callback = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Error = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t)
"""Makes an error of the plugin's from a code and a text."""


class KeyValueCallbacks:
    """Functions for `Client_Create`. They must live as long as the client.

    Args:
        store: the store.
        prefix: the beginning of keys, by which plugins' keys differ.
    """

    def __init__(self, store: Store, prefix: str) -> None:
        self._store, self._prefix = store, prefix
        self._lent: dict[int, Any] = {}
        """Values that the plugin has not copied yet, by address."""
        self._delete = _Deleter(self._end_loan)
        self._functions = {
            "kv_get_callback": _Callback(self._guarded(abi.KeyValueGetCallback_Args, self._get)),
            "kv_put_callback": _Callback(self._guarded(abi.KeyValuePutCallback_Args, self._put)),
            "kv_try_get_callback": _Callback(
                self._guarded(abi.KeyValueTryGetCallback_Args, self._try_get)
            ),
        }

    def fields(self) -> dict[str, int | None]:
        """The fields of `Client_Create_Args` that pass the functions."""
        pairs = self._functions.items()
        return {name: ctypes.cast(function, ctypes.c_void_p).value for name, function in pairs}

    def _guarded(self, kind: Any, function: Callable[[Any], None]) -> Callable[[int], int | None]:
        """A function of a struct's address, which returns errors as the plugin's."""

        def call(address: int) -> int | None:
            arguments = kind.from_address(address)
            try:
                return function(arguments)
            except KeyError as error:
                code, told = abi.Error_Code.NOT_FOUND, str(error)
            except TimeoutError as error:
                code, told = abi.Error_Code.DEADLINE_EXCEEDED, str(error)
            except Exception as error:  # whatever it is, the plugin is told
                code, told = abi.Error_Code.INTERNAL, f"{type(error).__name__}: {error}"
            fail = _Error(ctypes.c_void_p.from_address(arguments.callback_error).value or 0)
            encoded = told.encode()
            return fail(code, encoded, len(encoded))

        return call

    def _key(self, arguments: Any) -> str:
        return self._prefix + text(arguments.key, arguments.key_size)

    def _put(self, arguments: Any) -> None:
        value = ctypes.string_at(arguments.value, arguments.value_size)
        self._store.put(self._key(arguments), value)

    def _get(self, arguments: Any) -> None:
        seconds = arguments.timeout_in_ms / 1000
        self._lend(arguments, self._store.get(self._key(arguments), seconds))

    def _try_get(self, arguments: Any) -> None:
        key = self._key(arguments)
        found = self._store.find(key, 0.0)
        if found is None:
            raise KeyError(key)
        self._lend(arguments, found)

    def _lend(self, arguments: Any, value: bytes) -> None:
        memory = ctypes.create_string_buffer(value, max(len(value), 1))
        address = ctypes.addressof(memory)
        self._lent[address] = memory
        arguments.value, arguments.value_size = address, len(value)
        arguments.value_deleter_callback = ctypes.cast(self._delete, ctypes.c_void_p).value

    def _end_loan(self, address: int) -> None:
        self._lent.pop(address, None)
