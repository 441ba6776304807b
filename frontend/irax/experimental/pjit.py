"""The older name of `irax.jit` with shardings."""

from __future__ import annotations

import warnings as _warnings
from typing import Any

from irax.execution.pjit import pjit as _pjit


def __getattr__(name: str) -> Any:
    if name != "pjit":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _warnings.warn(
        "irax.experimental.pjit is deprecated: use irax.jit", DeprecationWarning, stacklevel=2
    )
    return _pjit
