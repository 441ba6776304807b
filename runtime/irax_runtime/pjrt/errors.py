"""Exceptions for the errors of plugins."""

from __future__ import annotations

from irax_runtime import device
from irax_runtime.pjrt.abi import Error_Code


class PluginError(RuntimeError):
    """A file is not a plugin that can be used here."""


class PjrtError(RuntimeError):
    """A call of a plugin failed: its message, and `code` for programs that handle it."""

    def __init__(self, code: Error_Code, message: str) -> None:
        super().__init__(f"{message} ({code.name})")
        self.code = code


class OutOfMemoryError(PjrtError, device.OutOfMemoryError):
    """The device has too little memory left; the process can go on."""


def error_of_code(code: int, message: str) -> PjrtError:
    """The exception for one of PJRT's error codes, also one that was added later."""
    known = Error_Code(code) if code in list(Error_Code) else Error_Code.UNKNOWN
    kind = OutOfMemoryError if known == Error_Code.RESOURCE_EXHAUSTED else PjrtError
    return kind(known, message)
