"""The public functions of `irax.numpy`: replayed outside of traces (see `execution.replay`)."""

from __future__ import annotations

import inspect
from typing import Any

from irax.core.dtypes.strictness import library
from irax.core.tracebacks import api_boundary
from irax.core.wrapping import renamed
from irax.execution.replay import public, replayed
from irax.numpy.ufunc_objects import ufunc

_AS_THEY_ARE = frozenset(
    [
        # Their arguments are not arrays yet, or are in files.
        *("array", "asarray", "copy", "frombuffer", "fromfile", "fromfunction", "fromiter"),
        *("fromstring", "from_dlpack", "load", "save", "savez"),
        # They depend on, or change, global options.
        *("array_repr", "array_str", "get_printoptions", "printoptions", "set_printoptions"),
        # They compute nothing.
        *("broadcast_shapes", "frompyfunc", "iscomplexobj", "isdtype", "isrealobj", "isscalar"),
        *("ndim", "shape", "size", "__array_namespace_info__"),
        # One function of NumPy's, which needs no replay.
        "frexp",
    ]
)

_BY_ELEMENTS = frozenset(["power", "pow"])
"""Their results' types depend on elements of arrays, so calls of one kind may differ."""

_OF_NUMPY = frozenset(["reshape"])
"""They return NumPy's arrays for NumPy's, which replays do not."""

_COPIES = frozenset(["astype", "meshgrid"])
"""They may be asked for copies, of which replays know nothing."""


def replay_all(namespace: dict[str, Any]) -> None:
    """Replace functions in a namespace by their public forms."""
    for name, value in list(namespace.items()):
        namespace[name] = as_public(name, value)


def as_public(name: str, value: Any) -> Any:
    """Return the public form of a value that a module defines under a name of `irax.numpy`, which
    is the value's name, too: `acos` is not called arccos.
    """
    if name in _AS_THEY_ARE:
        return public(value, "irax.numpy", kind=api_boundary)
    if isinstance(value, ufunc):
        found = value.named(name)
        found.replay()
        return found
    if inspect.isfunction(value) and value.__name__ != name and not name.startswith("_"):
        value = renamed(value, name)
    is_replayed = name not in _BY_ELEMENTS | _OF_NUMPY | _COPIES
    return public(value, "irax.numpy", kind=replayed if is_replayed else library)
