"""Registrations of classes: as pytrees, and as subclasses of abstract classes."""

from __future__ import annotations

import abc
import collections.abc
import numbers
import sys
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import optree

from irax.core.trees.registry import ARRAYS, NAMESPACE
from irax.execution.untraced.known import module_of, top
from irax.execution.untraced.reading import NotDescribed

_ABSTRACT: list[Any] = [
    *(x for x in vars(collections.abc).values() if isinstance(x, abc.ABCMeta)),
    *(x for x in vars(numbers).values() if isinstance(x, abc.ABCMeta)),
]
"""Classes of which library functions ask whether an object is an instance."""

_AT_FIRST = frozenset(optree.register_pytree_node.get(namespace=""))  # pyright: ignore


_SEEN = frozenset({"builtins", "numpy", "irax", "ml_dtypes"})
"""Packages of which all classes are there when `import irax` is done. Modules of others register
their classes as they are imported, and are known by their classes.
"""


def is_of_library(kind: type) -> bool:
    """Return True for a class of Python's library, NumPy or irax, which is known by its name."""
    package = top(module_of(kind))
    is_known = package in sys.stdlib_module_names or package in ("numpy", "irax", "ml_dtypes")
    return is_known and package != "__main__"


class Registrations:
    """The registrations there are at one time."""

    def __init__(self) -> None:
        get: Any = optree.register_pytree_node.get  # pyright: ignore
        self._pytrees: list[dict[type, Any]] = [get(namespace=x) for x in (NAMESPACE, ARRAYS)]

    def pytree(self, kind: type) -> list[Any]:
        """Return the functions that make a class a pytree, if it was registered."""
        found = [x[kind] for x in self._pytrees if kind in x]
        return [f for x in found for f in (x.flatten_func, x.unflatten_func)]

    def other_pytrees(self) -> Iterator[tuple[type, list[Any]]]:
        """Yield the classes of libraries that the program registered, and their functions."""
        for kind in self._pytrees[0]:
            is_new = kind not in _AT_FIRST and isinstance(kind, type)
            if is_new and is_of_library(kind) and top(module_of(kind)) != "irax":
                yield kind, self.pytree(kind)

    @cached_property
    def _abstract(self) -> dict[type, list[str]]:
        found: dict[type, list[str]] = {}
        seen: set[type] = set()
        for kind in _ABSTRACT:
            for above in _below(kind, seen):
                for x in _registered(above):
                    found.setdefault(x, []).append(f"{module_of(above)}.{above.__qualname__}")
                if above is not kind:
                    check_below(above)
        return found

    def abstract_of(self, kind: type) -> list[str]:
        """Return the abstract classes of Python's that a class was registered with."""
        return sorted(self._abstract.get(kind, []))

    def of_libraries(self) -> str:
        """Return what classes that are described by their names were registered with."""
        return str(
            sorted(
                (f"{module_of(kind)}.{kind.__qualname__}", sorted(found))
                for kind, found in self._abstract.items()
                if top(module_of(kind)) in _SEEN
            )
        )

    def check(self, kind: type) -> None:
        """Refuse an abstract class of the user's that has subclasses which are not seen in them.

        Raises:
            NotDescribed: it has.
        """
        if isinstance(kind, abc.ABCMeta):
            for below in _below(kind, set()):
                if _registered(below):
                    raise NotDescribed(f"{below!r} has registered subclasses")
                if below is not kind:
                    check_below(below)


def check_below(kind: type) -> None:
    """Refuse a subclass of an abstract class that says by itself what its subclasses are."""
    computes = "__subclasshook__" in vars(kind) and not getattr(kind, "_is_protocol", False)
    if computes and not is_of_library(kind):
        raise NotDescribed(f"{kind!r} computes what its subclasses are")


def _below(kind: type, seen: set[type]) -> Iterator[type]:
    """Yield a class and its subclasses."""
    if kind not in seen:
        seen.add(kind)
        yield kind
        for below in type.__subclasses__(kind):
            yield from _below(below, seen)


def _registered(kind: type) -> list[type]:
    if not isinstance(kind, abc.ABCMeta) or "_abc_impl" not in vars(kind):
        return []
    references, *_ = abc._get_dump(kind)  # pyright: ignore
    return [x for reference in references if (x := reference()) is not None]
