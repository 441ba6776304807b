"""jax.experimental.pallas and all modules below: a language of kernels, which irax has not.

Libraries import its names beside others. They raise an error when they are called.
"""

from __future__ import annotations

from typing import Any

ABSENT = True
__path__: list[str] = []


class _Absent(type):
    """A class, or a module, of which everything is absent."""

    def __call__(cls, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(
            f"jax.experimental.pallas: irax has no {cls.__name__}: write the kernel with "
            "irax.numpy, or as a C function (irax.ffi)"
        )

    def __getattr__(cls, name: str) -> _Absent:
        return __getattr__(name)


def __getattr__(name: str) -> _Absent:
    """Return what stands for a name of Pallas."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    return _Absent(name, (), {})
