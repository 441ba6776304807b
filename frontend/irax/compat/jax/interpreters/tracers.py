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
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Tracer and traced(instance) is not None

    def __subclasscheck__(cls, subclass: type) -> bool:
        is_one = cls is Tracer and issubclass(subclass, tracing.Tracer)
        return is_one or type.__subclasscheck__(cls, subclass)


class Tracer(Array, metaclass=_Traced):
    """The class of traced arrays, and of typed keys of traced words. Those of a trace of the user's
    own are of subclasses, which hold what it computes with.
    """

    __slots__ = ("_trace", "aval")

    def __init__(self, trace: Any, aval: Any) -> None:
        self._trace: Any = trace
        self.aval: Any = aval

    def full_lower(self) -> Any:
        """Return what the value is without the tracer, if it is needless: here the tracer."""
        return self

    def with_weak_type(self, weak_type: bool) -> Array:
        """Return the array itself: its type is as it says."""
        return self

    def concrete(
        self, why: str, error: type[Exception], chooses: bool = False, computes: bool = False
    ) -> Any:
        """Raise an error: no elements are known."""
        raise error(f"{why}: the value of {self!r} is not known to the trace that it belongs to")

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{self.aval}>"


class _Batched(_Traced):
    def __instancecheck__(cls, instance: Any) -> bool:
        found = traced(instance)
        return found is not None and found.home.kind == "vmap"

    def __subclasscheck__(cls, subclass: type) -> bool:
        return type.__subclasscheck__(cls, subclass)


class BatchTracer(Tracer, metaclass=_Batched):
    """The class of arrays of which `vmap` traces an element."""
