"""The functions of `irax.numpy` as they are outside of traces: replayed (see `irax.replay`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from irax.numpy.ufunc_objects import ufunc
from irax.replay import replayed

_AS_THEY_ARE = frozenset(
    [
        # What they are given is not an array yet, or lies elsewhere.
        *("array", "asarray", "copy", "frombuffer", "fromfile", "fromfunction", "fromiter"),
        *("fromstring", "from_dlpack", "load", "save", "savez"),
        # They ask for, or change, more than their arguments.
        *("array_repr", "array_str", "get_printoptions", "printoptions", "set_printoptions"),
        # They compute nothing.
        *("broadcast_shapes", "frompyfunc", "iscomplexobj", "isdtype", "isrealobj", "isscalar"),
        *("ndim", "shape", "size", "__array_namespace_info__"),
    ]
)


def replay_all(namespace: dict[str, Any]) -> None:
    """Replaces functions in a namespace by those that users are to have."""
    for name, value in list(namespace.items()):
        namespace[name] = as_public(name, value)


def as_public(name: str, value: Any) -> Any:
    """What a name of `irax.numpy` is, given what the module that defines it has."""
    if name in _AS_THEY_ARE or not getattr(value, "__module__", "").startswith("irax.numpy"):
        return value
    if isinstance(value, ufunc):
        value.replay()
        return value
    return _replayed(value) if inspect.isfunction(value) else value


@cache
def _replayed(function: Callable[..., Any]) -> Callable[..., Any]:
    public = replayed(function)
    public.__module__ = "irax.numpy"  # where it is pickled from
    return public
