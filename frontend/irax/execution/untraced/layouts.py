"""The memory of instances: what they may hold beside attributes."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from irax.core import origins
from irax.execution.untraced import known
from irax.execution.untraced.reading import NotDescribed

BASES = (dict, list, tuple, frozenset, set, str, int, float)
"""Classes of Python's whose content is described, of subclasses too."""
_LAYOUTS = frozenset({object, types.SimpleNamespace, *BASES})
CONTENT: dict[type, Callable[[Any], Any]] = {
    dict: lambda x: dict(dict.items(x)),
    list: lambda x: list(list.__iter__(x)),
    tuple: lambda x: tuple(tuple.__iter__(x)),
    set: lambda x: frozenset(set.__iter__(x)),
    frozenset: lambda x: frozenset(frozenset.__iter__(x)),
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
}


def check_layout(kind: type, place: str) -> None:
    """Refuse instances that hold more than attributes and what Python's containers hold: those of
    classes that are written in C.
    """
    base = kind
    while base not in _LAYOUTS:
        above: Any = base.__base__
        size = 8 * sum(type(x) is types.MemberDescriptorType for x in vars(base).values())
        size += 8 * (base.__weakrefoffset__ > 0 and above.__weakrefoffset__ == 0)
        size += 8 * (base.__dictoffset__ > 0 and above.__dictoffset__ == 0)
        if base.__basicsize__ != above.__basicsize__ + size or known.is_own(known.module_of(base)):
            raise NotDescribed(f"{place} is of the class {name_of(kind)}")
        base = above


def name_of(kind: type) -> str:
    """Return the name of a class, with its module."""
    return f"{origins.module_of(kind)}.{origins.name_of(kind)}"
