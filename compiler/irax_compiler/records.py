"""Data classes that are made fast.

`dataclasses.dataclass` compiles each of the six methods of a class by itself, which takes a third
of a millisecond. irax has hundreds of such classes, and a process makes most of them when it
starts. Here the methods that are called often are compiled at once, and classes share the others.
What is made are data classes to all that asks: `fields`, `replace`, type checkers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError
from dataclasses import field as field
from dataclasses import fields as fields
from dataclasses import is_dataclass as is_dataclass
from dataclasses import replace as replace
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def dataclass(cls: type[T], /) -> type[T]: ...
@overload
def dataclass(
    *, frozen: bool = False, eq: bool = True, kw_only: bool = False
) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(field_specifiers=(field,))
def dataclass(
    cls: type[Any] | None = None, /, *, frozen: bool = False, eq: bool = True, kw_only: bool = False
) -> Any:
    """Make a class a data class, as `dataclasses.dataclass` does.

    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(1, 0), replace(Point(1), y=2)
    (Point(x=1, y=0), True, Point(x=1, y=2))
    """

    def made(cls: type[Any]) -> type[Any]:
        own = dict(vars(cls))
        if own.get("__doc__") is None:
            cls.__doc__ = cls.__name__  # which else is looked for, in a long time
        inherits = any(map(is_dataclass, cls.__bases__))  # then both must be frozen, or neither
        dataclasses.dataclass(
            init=False, repr=False, eq=False, frozen=frozen and inherits, kw_only=kw_only
        )(cls)
        cls.__dataclass_params__.frozen = frozen
        for name, method in _methods(cls, frozen, eq).items():
            may_hash = own.get("__hash__") is None and ("__hash__" not in own or "__eq__" in own)
            if may_hash if name == "__hash__" else name not in own:
                setattr(cls, name, method)
        return cls

    return made if cls is None else made(cls)


def _methods(cls: type[Any], frozen: bool, eq: bool) -> dict[str, Any]:
    """Return the methods of a data class, by their names."""
    members = dataclasses.fields(cls)
    names: dict[str, Any] = {"_MISSING": MISSING, "_set": object.__setattr__}
    lines = list(_constructor(members, names, frozen))
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()")
    if eq:
        lines += _comparison([x.name for x in members if x.compare])
    exec("\n".join(lines), names)
    found = {name: x for name, x in names.items() if name in ("__init__", "__eq__", "__hash__")}
    for name, method in found.items():
        method.__qualname__, method.__module__ = f"{cls.__qualname__}.{name}", cls.__module__
    found["__init__"].__annotations__ = {x.name: x.type for x in members if x.init}
    if frozen:
        found |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
    elif eq:
        found["__hash__"] = None
    return {**found, "__repr__": _repr}


def _constructor(
    members: Sequence[Field[Any]], names: dict[str, Any], frozen: bool
) -> Iterator[str]:
    """Yield the lines of a constructor; what they name is added to `names`."""
    parameters: list[str] = []
    named: list[str] = []
    body: list[str] = []
    for x in members:
        value, parameter = x.name, x.name
        if x.default is not MISSING:
            names[f"_default_{x.name}"] = x.default
            value = x.name if x.init else f"_default_{x.name}"
            parameter = f"{x.name}=_default_{x.name}"
        elif x.default_factory is not MISSING:
            names[f"_make_{x.name}"] = x.default_factory
            made = f"_make_{x.name}()"
            value = f"{made} if {x.name} is _MISSING else {x.name}" if x.init else made
            parameter = f"{x.name}=_MISSING"
        elif not x.init:
            continue
        if x.init:
            (named if x.kw_only else parameters).append(parameter)
        body.append(
            f"    _set(self, {x.name!r}, {value})" if frozen else f"    self.{x.name} = {value}"
        )
    given = ", ".join(["self", *parameters, *(["*", *named] if named else [])])
    yield f"def __init__({given}):"
    yield from body or ["    pass"]


def _comparison(names: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the methods that compare the fields of objects, and hash them."""
    values, others = (f"({''.join(f'{x}.{name}, ' for name in names)})" for x in ("self", "other"))
    yield "def __eq__(self, other):"
    yield "    if other.__class__ is not self.__class__:"
    yield "        return NotImplemented"
    yield f"    return {values} == {others}"
    yield "def __hash__(self):"
    yield f"    return hash({values})"


@recursive_repr()
def _repr(self: Any) -> str:
    shown = [f"{x.name}={getattr(self, x.name)!r}" for x in dataclasses.fields(self) if x.repr]
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_to_set(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
