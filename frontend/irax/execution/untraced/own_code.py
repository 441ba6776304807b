"""The state of irax's own code: that of its files, if nothing of it was replaced since."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Mapping
from types import FunctionType, MethodType, ModuleType
from typing import Any

import irax_runtime
from irax.execution.untraced import known
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
    known.check_builtins()
    _Look()
    for place, held, name, x in _DEFINED_AT_FIRST:
        if held.get(name) is not x:
            raise NotDescribed(f"{place}.{name} was replaced")
    return f"{found} {_constants()}"


class _Look:
    """A look at the modules and classes of irax, NumPy and Python's library, for functions, classes
    and objects that they were not written with, as tests set them. The compiler is known by its
    files alone, as for artefacts.

    Raises:
        NotDescribed: there are some.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()
        """The numbers of namespaces and classes that belong here."""
        loaded = list(sys.modules.items())
        own = [(n, vars(m)) for n, m in loaded if n == "irax" or n.startswith("irax.")]
        pythons = [(n, vars(m)) for n, m in loaded if n in _PYTHONS]
        modules = [*own, *pythons, *((n, vars(sys.modules[n])) for n in ("numpy", "numpy.linalg"))]
        self._known.update(id(held) for _, held in modules)
        self._classes: dict[str, Mapping[str, Any]] = {}
        for place, held in modules:
            self._look(place, held)
        for place, held in list(self._classes.items()):
            self._look(place, held)

    def _look(self, place: str, held: Mapping[str, Any]) -> None:
        for name, x in held.items():
            kind = type(x)
            if kind is FunctionType:
                if id(x.__globals__) not in self._known:
                    self._check_globals(place, x)
            elif kind not in _CONSTANTS and name not in ("__loader__", "__spec__"):
                self._check(place, name, x)

    def _check(self, place: str, name: str, x: Any) -> None:
        parts = _PARTS.get(type(x))
        if parts is not None:
            for part in parts(x):
                if type(part) is FunctionType:
                    if id(part.__globals__) not in self._known:
                        self._check_globals(place, part)
                elif part is not None:
                    self._check(place, name, part)
        elif isinstance(x, type):
            if id(x) not in self._known:
                self._check_class(place, name, x)
        elif id(type(x)) not in self._known:
            self._check_class(place, name, type(x))

    def _check_class(self, place: str, name: str, x: type) -> None:
        module = known.module_of(x)
        if not _is_library(module):
            raise NotDescribed(f"{place}.{name} is of another origin")
        self._known.add(id(x))
        if known.is_own(module) and top(module) == "irax":
            self._classes[f"{module}.{x.__qualname__}"] = vars(x)

    def _check_globals(self, place: str, x: FunctionType) -> None:
        namespace = x.__globals__
        name = str(namespace.get("__name__", ""))
        module = sys.modules.get(name)
        is_generated = name.startswith("namedtuple_")
        if is_generated or (_is_library(name) and module is not None and vars(module) is namespace):
            self._known.add(id(namespace))
            return
        raise NotDescribed(
            f"{place} has the function {x.__module__}.{x.__qualname__} of another origin"
        )


_CONSTANTS = {bool, int, float, complex, str, bytes}
_PYTHONS = known.PYTHON_MODULES | known.C_MODULES
_MODULES_AT_FIRST = [
    (place, vars(module))
    for place, module in list(sys.modules.items())
    if place.startswith("irax.")
    if place not in ("irax.core.settings.options", "irax.transforms.deferred_rules")
]
"""The modules that are loaded before a program can replace anything, less one that options set, and
one that names the process.
"""
_CONSTANTS_AT_FIRST = [
    (place, held, name)
    for place, held in _MODULES_AT_FIRST
    for name, x in held.items()
    if type(x) in _CONSTANTS and not name.startswith("__")
]
_DEFINED_AT_FIRST = [
    (place, held, name, x)
    for place, held in _MODULES_AT_FIRST
    for name, x in held.items()
    if isinstance(x, (FunctionType, type))
]
_CLASSES_AT_FIRST = [
    (place, x)
    for place, held in _MODULES_AT_FIRST
    for x in held.values()
    if isinstance(x, type) and known.module_of(x) == place
]
_PARTS: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    property: lambda x: (x.fget, x.fset, x.fdel),
    staticmethod: lambda x: (x.__func__,),
    classmethod: lambda x: (x.__func__,),
    functools.cached_property: lambda x: (x.func,),
    functools.partial: lambda x: (x.func,),
    functools.partialmethod: lambda x: (x.func,),
    MethodType: lambda x: (x.__func__,),
    type(functools.lru_cache(abs)): lambda x: (x.__wrapped__,),
    ModuleType: lambda _: (),
}
"""Objects that hold functions, and what returns these."""
_LIBRARIES = frozenset(
    {
        *("ml_dtypes", "optree", "scipy", "iree", "numpy", "irax", "irax_compiler"),
        *("irax_runtime", "typing_extensions", "nanobind", "pybind11_builtins", "platformdirs"),
    }
)


@functools.cache
def _is_library(name: str) -> bool:
    """Return True for a module of Python's library, or of one that irax uses."""
    package = top(name)
    is_pythons = package in sys.stdlib_module_names and package not in _MAY_REPLACE
    return name != "__main__" and (is_pythons or package in _LIBRARIES)


def _constants() -> list[Any]:
    """Return the numbers and texts of the modules that are loaded first, and of their classes."""
    found = [(place, name, _plain(held.get(name))) for place, held, name in _CONSTANTS_AT_FIRST]
    for place, kind in _CLASSES_AT_FIRST:
        for name, x in vars(kind).items():
            if type(x) in _CONSTANTS and not name.startswith("__"):
                found.append((f"{place}.{kind.__qualname__}", name, x))
    return found


def _plain(x: Any) -> Any:
    return x if type(x) in _CONSTANTS else type(x).__qualname__
