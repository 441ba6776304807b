"""Dataclasses that are made in a fifth of the time.

Python's `dataclass` compiles each method of each class: with some hundred classes, a third of the
time of `import irax`. Here only `__init__` is compiled. The other methods are closures that do the
same. Classes with slots, `InitVar` or `KW_ONLY`, and those that define `__init__` by `init=False`,
are left to Python's.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")

_FIELDS, _PARAMETERS = "__dataclass_fields__", "__dataclass_params__"


class _Absent:
    """Stands for an argument that was not given, of which a function makes the value."""

    def __repr__(self) -> str:
        return "<factory>"


_ABSENT = _Absent()


@overload
def dataclass(cls: type[T], /) -> type[T]: ...


@overload
def dataclass(
    *, frozen: bool = ..., eq: bool = ..., repr: bool = ..., kw_only: bool = ...
) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(field_specifiers=(dataclasses.field,))
def dataclass(
    cls: type[Any] | None = None,
    /,
    *,
    frozen: bool = False,
    eq: bool = True,
    repr: bool = True,
    kw_only: bool = False,
) -> Any:
    """Make a class a dataclass, as `dataclasses.dataclass` does.

    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1)
    Point(x=1, y=0)
    """

    def made(cls: Any) -> Any:
        model = _model(frozen, eq, repr, kw_only)
        setattr(cls, _FIELDS, _fields(cls, kw_only))
        setattr(cls, _PARAMETERS, getattr(model, _PARAMETERS))
        fields = dataclasses.fields(cls)
        if "__match_args__" not in vars(cls):
            cls.__match_args__ = tuple(f.name for f in fields if f.init and not f.kw_only)
        cls.__replace__ = dataclasses.replace
        if "__init__" not in vars(cls):
            cls.__init__ = _init(cls, fields, frozen)
        if repr and "__repr__" not in vars(cls):
            cls.__repr__ = _repr([f.name for f in fields if f.repr])
        if eq:
            _compare(cls, [f.name for f in fields if f.compare], frozen)
        if frozen:
            _freeze(cls, frozenset(f.name for f in fields))
        return cls

    return made if cls is None else made(cls)


@functools.cache
def _model(frozen: bool, eq: bool, repr: bool, kw_only: bool) -> type[Any]:
    """Return a class that Python made a dataclass with these parameters."""
    empty = type("empty", (), {})
    return dataclasses.dataclass(empty, frozen=frozen, eq=eq, repr=repr, kw_only=kw_only)


def _fields(cls: type[Any], kw_only: bool) -> dict[str, Field[Any]]:
    """Return the fields of a class and its bases, as `dataclasses` finds them. Their defaults
    become the class's attributes.
    """
    found: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= vars(base).get(_FIELDS, {})
    annotations = inspect.get_annotations(cls)
    given = {name: vars(cls)[name] for name in annotations if name in vars(cls)}
    held = {**given, "__annotations__": annotations, "__module__": cls.__module__, "__doc__": "-"}
    alone = type(cls.__name__, (), held)
    dataclasses.dataclass(alone, init=False, repr=False, eq=False, kw_only=kw_only)
    for name, value in given.items():
        if isinstance(value, Field):
            if name in vars(alone):
                setattr(cls, name, vars(alone)[name])
            else:
                delattr(cls, name)
    return found | vars(alone)[_FIELDS]


def _init(cls: type[Any], fields: Sequence[Field[Any]], frozen: bool) -> Callable[..., None]:
    """Return the method `__init__` of a class with these fields."""
    taken = [f for f in fields if f.init]
    named = [_parameter(f) for f in taken if f.kw_only]
    parameters = [_parameter(f) for f in taken if not f.kw_only]
    parameters += ["*", *named] if named else []
    lines = [
        f"_set(self, {f.name!r}, {_value(f)})" if frozen else f"self.{f.name} = {_value(f)}"
        for f in fields
        if f.init or f.default_factory is not MISSING
    ]
    lines += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    outer = {f"_default_{f.name}": f.default for f in taken if f.default is not MISSING}
    outer |= {
        f"_make_{f.name}": f.default_factory for f in fields if f.default_factory is not MISSING
    }
    outer |= {"_set": object.__setattr__, "_absent": _ABSENT}
    text = f"""def _outer({", ".join(outer)}):
 def __init__({", ".join(["self", *parameters])}):
  {"; ".join(lines) or "pass"}
 return __init__"""
    made: dict[str, Any] = {}
    exec(text, vars(sys.modules[cls.__module__]), made)
    init = made["_outer"](**outer)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {**{f.name: f.type for f in taken}, "return": None}
    return init


def _parameter(field: Field[Any]) -> str:
    if field.default is not MISSING:
        return f"{field.name}=_default_{field.name}"
    return f"{field.name}=_absent" if field.default_factory is not MISSING else field.name


def _value(field: Field[Any]) -> str:
    """Return the expression of what a field is set to."""
    name = field.name
    if field.default_factory is MISSING:
        return name
    return f"_make_{name}() if {name} is _absent else {name}" if field.init else f"_make_{name}()"


def _repr(names: Sequence[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def __repr__(self: Any) -> str:
        shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
        return f"{type(self).__qualname__}({shown})"

    return __repr__


def _compare(cls: Any, names: Sequence[str], frozen: bool) -> None:
    """Define `__eq__` and `__hash__` by fields, unless the class does."""
    has_hash = vars(cls).get("__hash__") is not None
    get = attrgetter(*names) if len(names) > 1 else lambda x: tuple([getattr(x, n) for n in names])

    def __eq__(self: Any, other: Any) -> Any:
        return get(self) == get(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(get(self))

    if "__eq__" not in vars(cls):
        cls.__eq__ = __eq__
    if not has_hash:
        cls.__hash__ = __hash__ if frozen else None


def _freeze(cls: Any, names: frozenset[str]) -> None:
    """Let instances refuse to be changed."""

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    cls.__setattr__, cls.__delattr__ = __setattr__, __delattr__
