"""irax's runtime: devices, buffers and executables. It needs iree-base-runtime and NumPy alone."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from irax_runtime.exported import Program as Program
    from irax_runtime.exported import load as load


def __getattr__(name: str) -> Any:
    """`load` and `Program` are imported when they are first used."""
    if name in ("load", "Program"):
        return getattr(importlib.import_module("irax_runtime.exported"), name)
    raise AttributeError(f"module 'irax_runtime' has no attribute {name!r}")
