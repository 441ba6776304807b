"""The decorator of functions that stand in the place of a user's function."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, TypeVar

from irax.core import origins

_KINDS = {"__name__": str, "__qualname__": str, "__annotations__": dict}
"""The types of attributes that functions take no others for."""


def wraps(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`functools.wraps` for whatever can be called: an object has any attributes, or none.

    Names that are no text and annotations that are no dict are not taken over, nor attributes that
    are private or that it has.

    >>> class Model:
    ...     __name__, size = None, 3
    ...
    ...     def __call__(self, x):
    ...         return x
    >>> wraps(Model())(lambda x: x).__name__
    '<lambda>'
    """
    assigned = [
        name
        for name in functools.WRAPPER_ASSIGNMENTS
        if isinstance(getattr(function, name, None), _KINDS.get(name, object))
    ]
    own = {k: v for k, v in getattr(function, "__dict__", {}).items() if not k.startswith("_")}

    def decorate(wrapper: Callable[..., Any]) -> Callable[..., Any]:
        functools.update_wrapper(wrapper, function, assigned, ())
        vars(wrapper).update({k: v for k, v in own.items() if not hasattr(wrapper, k)})
        return wrapper

    return decorate


_Function = TypeVar("_Function", bound=Callable[..., Any])


def renamed(function: _Function, name: str, module: str | None = None) -> _Function:
    """Return a copy of a function that has another name: an alias that says its own, and the module
    that has it, if that is another one.

    >>> renamed(wraps, "alias").__name__
    'alias'
    """
    copied: Any = function
    code, defaults, cells = copied.__code__, copied.__defaults__, copied.__closure__
    copy: Any = types.FunctionType(code, copied.__globals__, name, defaults, cells)
    copy.__kwdefaults__ = copied.__kwdefaults__
    vars(copy).update(vars(copied))
    copy.__doc__, copy.__annotations__ = copied.__doc__, copied.__annotations__
    copy.__module__, copy.__qualname__ = module or origins.module_of(copied), name
    return copy


def name_aliases(namespace: dict[str, Any], *names: str) -> None:
    """Give functions of a module that have other functions' names copies with their own."""
    for name in (name for name in names if namespace[name].__name__ != name):
        namespace[name] = renamed(namespace[name], name, namespace["__name__"])


class SignatureOfWrapped:
    """The `__signature__` of objects that stand in the place of functions, for `inspect`."""

    def __get__(self, wrapper: Any, _: Any) -> inspect.Signature:
        if wrapper is None:  # the class has a signature of its own
            raise AttributeError("__signature__")
        return inspect.signature(wrapper.__wrapped__)
