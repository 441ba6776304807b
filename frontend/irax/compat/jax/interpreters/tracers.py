"""The classes of traced arrays that libraries ask for. In irax all are of one class, and typed keys
of traced words of that of keys.
"""

from __future__ import annotations

from typing import Any

from irax.core import tracing
from irax.core.array import Array
from irax.core.key_arrays import KeyArray


def traced(x: Any) -> tracing.Tracer | None:
    """Return the traced array that an array is, or the words of traced keys; None for others."""
    words = x.data if isinstance(x, KeyArray) else x
    return words if isinstance(words, tracing.Tracer) else None


class _Traced(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return traced(instance) is not None

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, tracing.Tracer) or type.__subclasscheck__(cls, subclass)


class Tracer(Array, metaclass=_Traced):
    """The class of traced arrays, and of typed keys of traced words."""


class _Batched(_Traced):
    def __instancecheck__(cls, instance: Any) -> bool:
        found = traced(instance)
        return found is not None and found.home.kind == "vmap"

    def __subclasscheck__(cls, subclass: type) -> bool:
        return type.__subclasscheck__(cls, subclass)


class BatchTracer(Tracer, metaclass=_Batched):
    """The class of arrays of which `vmap` traces an element."""
