"""The state of irax's own code: that of its files, if no function of it was replaced since."""

from __future__ import annotations

import os
import sys
from abc import ABCMeta
from collections.abc import Mapping
from enum import EnumType
from types import FunctionType
from typing import Any, Protocol

import irax_runtime
from irax.execution.untraced.known import top
from irax.execution.untraced.reading import NotDescribed
from irax_compiler import own_files
from irax_runtime.once import once

_MAY_REPLACE = frozenset({"unittest", "mock", "pytest", "_pytest"})
"""Packages of Python's library and of tests whose objects stand in the place of others."""


@once
def _files() -> str | None:
    inside = os.path.dirname
    folders = (inside(inside(inside(__file__))), inside(str(irax_runtime.__file__)))
    states = [own_files.state_of(folder) for folder in folders]
    return None if None in states else str(states)


def state() -> str:
    """Return what tells the code of irax from that of other versions.

    Raises:
        NotDescribed: files were written after this process began, or functions were replaced.
    """
    found = _files()
    if found is None:
        raise NotDescribed("files of irax are newer than this process")
    _check_functions()
    return found


def _check_functions() -> None:
    """Refuse where a module or a class of irax's, or NumPy, has a function that it was not written
    with, as tests set them. The compiler is known by its files alone, as for artefacts.
    """
    own = [(n, vars(m)) for n, m in list(sys.modules.items()) if n.startswith("irax.")]
    modules = [*own, *((n, vars(sys.modules[n])) for n in ("irax", "numpy"))]
    library = {id(held) for _, held in modules}
    kinds: list[tuple[str, Any]] = []
    for name, held in modules:
        kinds += _check(name, held, library)
    for name, held in kinds:
        _check(name, held, library)


def _check(place: str, held: Mapping[str, Any], library: set[int]) -> list[tuple[str, Any]]:
    """Refuse functions of another origin among attributes; return the classes that belong here."""
    found: list[tuple[str, Any]] = []
    for x in held.values():
        kind = type(x)
        if kind is FunctionType:
            if id(x.__globals__) not in library:
                if _is_of_library(x.__globals__):
                    library.add(id(x.__globals__))
                    continue
                raise NotDescribed(
                    f"{place} has the function {x.__module__}.{x.__qualname__} of another origin"
                )
        elif kind in _METACLASSES and x.__module__ == place:
            found.append((f"{place}.{x.__name__}", vars(x)))
    return found


_METACLASSES = {type, ABCMeta, EnumType, type(Protocol)}
_LIBRARIES = frozenset(
    {"ml_dtypes", "optree", "scipy", "iree", "numpy", "irax_compiler", "irax_runtime"}
)


def _is_of_library(namespace: dict[str, Any]) -> bool:
    """Return True for the globals of a module of Python's library, or of one that irax uses."""
    name = str(namespace.get("__name__", ""))
    package = top(name)
    is_pythons = package in sys.stdlib_module_names and package not in _MAY_REPLACE
    if name == "__main__" or not (is_pythons or package in _LIBRARIES):
        return False
    module = sys.modules.get(name)
    return module is not None and vars(module) is namespace
