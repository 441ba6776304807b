"""Modules of JAX's layout in front of modules of irax: what they lack, irax's have."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from irax.compat import internals

GetAttr = Callable[[str], Any]
"""The `__getattr__` of a module."""


def names_of(module: ModuleType) -> dict[str, Any]:
    """Return the names of a module, to be those of another one too."""
    return {k: v for k, v in vars(module).items() if not k.startswith("__")}


def in_front_of(package: str, module: ModuleType) -> GetAttr:
    """Return the `__getattr__` of a package: its own modules, then the names of a module. A name is
    looked up once.
    """
    own = modules_of(package)

    def __getattr__(name: str) -> Any:
        try:
            return own(name)
        except AttributeError:
            found = getattr(module, name)
        setattr(sys.modules[package], name, found)
        return found

    return __getattr__


def modules_of(package: str) -> GetAttr:
    """Return the `__getattr__` of a package, which imports its modules when they are first used."""

    def __getattr__(name: str) -> Any:
        as_jax = f"{package}.{name}".removeprefix("irax.compat.")
        if as_jax in internals.HOMES:
            return importlib.import_module(as_jax)
        if name.startswith("__") or find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        return importlib.import_module(f"{package}.{name}")

    return __getattr__
