"""The state of the process that Python's and NumPy's functions read beside their arguments."""

from __future__ import annotations

import locale
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from irax.execution.untraced.reading import NotDescribed


def parts() -> Iterator[str]:
    """Yield what describes it.

    Raises:
        NotDescribed: functions of the program's are a part of it.
    """
    errors, printing = np.geterr(), np.get_printoptions()
    if not {"ignore", "warn", "raise"}.issuperset(errors.values()):
        raise NotDescribed("np.seterr calls functions")
    if printing.pop("formatter", None) or printing.pop("override_repr", None):
        raise NotDescribed("np.set_printoptions was given functions")
    yield f"{errors} {printing}"
    raised = [tuple(map(str, parts)) for parts in _raised()]
    yield f"{raised} {warnings.defaultaction}"  # pyright: ignore
    yield f"{locale.localeconv()} {sys.get_int_max_str_digits()} {sys.flags.optimize}"


def _raised() -> Iterator[tuple[Any, Any, Any, int]]:
    """Yield what warnings are errors."""
    for action, message, kind, module, line in warnings.filters:
        if action == "error":
            yield kind, message, module, line
