"""Modules of JAX that irax has not: libraries import their names beside others.

Their names can be imported and be used as classes; they raise an error when they are called.
"""

from __future__ import annotations

from typing import Any

from irax.compat.layers import GetAttr


def stand_ins(module: str, of: str, remedy: str) -> GetAttr:
    """Return a module's `__getattr__` whose names raise an error, with a remedy, when called.

    `of` is the name that JAX gives the module.
    """

    class Absent(type):
        """A class, or a module, of which everything is absent."""

        def __call__(cls, *_: Any, **__: Any) -> Any:
            raise NotImplementedError(f"{of}: irax has no {cls.__name__}: {remedy}")

        def __getattr__(cls, name: str) -> Absent:
            return stand_in(name)

    def stand_in(name: str) -> Absent:
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        return Absent(name, (), {})

    return stand_in
