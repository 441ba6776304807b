"""SciPy, where it is installed. Ops without another implementation say that they need it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from irax_compiler.importing import import_module


@cache
def scipy_module(name: str) -> Any:
    """Return a module of SciPy, which is imported when first needed; None where it is missing."""
    try:
        return import_module(f"scipy.{name}")
    except ImportError:
        return None


def needed(name: str, what: str) -> Any:
    """Return a module of SciPy. Raises ImportError, with what needs it, where it is missing."""
    module = scipy_module(name)
    if module is None:
        raise ImportError(f"{what} needs SciPy: pip install scipy", name="scipy")
    return module


def scipy_function(name: str) -> Callable[..., Any]:
    """Return a function of scipy.special, which is looked up when called."""

    def evaluate(*operands: np.ndarray) -> Any:
        return getattr(scipy_module("special"), name)(*operands).astype(operands[0].dtype)

    return evaluate
