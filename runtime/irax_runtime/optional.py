"""Packages that the runtime uses where they are installed."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any


@cache
def module(name: str) -> Any:
    """Return a module of another package; None where it is not installed.

    >>> module("math").floor(2.5)
    2
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
