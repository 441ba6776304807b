"""Methods that a function with a rule of its own hands on to the function it wraps."""

from __future__ import annotations

from typing import Any


class ForwardsDefinitions:
    """A wrapped function whose rules of other kinds are those of the function inside: `defjvp` of a
    `custom_vmap` of a `custom_jvp` gives the rule to that one.
    """

    def __getattr__(self, name: str) -> Any:
        inner = self.__dict__.get("fun")
        if name.startswith("def") and inner is not None:
            return getattr(inner, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
