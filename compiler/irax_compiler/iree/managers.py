"""Managers of IREE's passes that are kept with a session.

Most of IREE's passes collect the patterns of all loaded operations when their manager first runs.
For a small module this takes longer than the passes, and a manager that runs again does without.
"""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

from irax_compiler.once import once

MOST = 64
"""The managers that a session keeps."""


class _Pointer(ctypes.Structure):
    """An object of MLIR's C interface, which passes them as structures of one pointer."""

    _fields_ = (("pointer", ctypes.c_void_p),)


class _Text(ctypes.Structure):
    _fields_ = (("data", ctypes.c_char_p), ("length", ctypes.c_size_t))


class _Result(ctypes.Structure):
    _fields_ = (("value", ctypes.c_int8),)


_ON_TEXT = ctypes.CFUNCTYPE(None, _Text, ctypes.c_void_p)


@_ON_TEXT
def _ignore(text: _Text, data: int) -> None:
    """Take what MLIR says about the text of a pipeline that it cannot read."""


@once
def _functions() -> Any:
    """Return the functions of IREE's library that are called here."""
    from iree.compiler.api import ctypes_dl

    library: Any = ctypes_dl._dylib
    text = (_Text, _ON_TEXT, ctypes.c_void_p)
    types = {
        "ireeCompilerSessionBorrowContext": (_Pointer, ctypes.c_void_p),
        "mlirPassManagerCreate": (_Pointer, _Pointer),
        "mlirPassManagerDestroy": (None, _Pointer),
        "mlirPassManagerEnableVerifier": (None, _Pointer, ctypes.c_bool),
        "mlirPassManagerGetAsOpPassManager": (_Pointer, _Pointer),
        "mlirOpPassManagerAddPipeline": (_Result, _Pointer, *text),
        "mlirPassManagerRunOnOp": (_Result, _Pointer, _Pointer),
    }
    found = {name: ctypes.CFUNCTYPE(*kinds)((name, library)) for name, kinds in types.items()}
    return SimpleNamespace(**found)


class Managers:
    """The managers of a session's passes."""

    def __init__(self, session: int) -> None:
        self._context = _functions().ireeCompilerSessionBorrowContext(session)
        self._made: dict[tuple[str, bool], _Pointer] = {}

    def run(self, passes: str, module: int, verifies: bool) -> bool:
        """Run passes on a module of the session; return False where one fails, or where there is no
        such pass.
        """
        found = self._made.get((passes, verifies)) or self._new(passes, verifies)
        if found is None:
            return False
        return bool(_functions().mlirPassManagerRunOnOp(found, _Pointer(module)).value)

    def _new(self, passes: str, verifies: bool) -> _Pointer | None:
        mlir = _functions()
        made = mlir.mlirPassManagerCreate(self._context)
        data = passes.encode()
        whole = mlir.mlirPassManagerGetAsOpPassManager(made)
        text = _Text(data, len(data))
        if not mlir.mlirOpPassManagerAddPipeline(whole, text, _ignore, None).value:
            mlir.mlirPassManagerDestroy(made)
            return None
        mlir.mlirPassManagerEnableVerifier(made, verifies)
        while len(self._made) >= MOST:
            mlir.mlirPassManagerDestroy(self._made.pop(next(iter(self._made))))
        self._made[passes, verifies] = made
        return made

    def close(self) -> None:
        """Destroy them, before the session is closed."""
        while self._made:
            _functions().mlirPassManagerDestroy(self._made.popitem()[1])
