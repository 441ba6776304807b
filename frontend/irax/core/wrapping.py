"""The decorator of functions that stand in the place of a user's function."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

_NAMES = ("__name__", "__qualname__")


def wraps(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`functools.wraps` for whatever can be called: an object has any attributes, or none.

    Names that are no text are not taken over, nor attributes that are private or that it has.

    >>> class Model:
    ...     __name__, size = None, 3
    ...
    ...     def __call__(self, x):
    ...         return x
    >>> wraps(Model())(lambda x: x).__name__
    '<lambda>'
    """
    named = [n for n in _NAMES if isinstance(getattr(function, n, None), str)]
    assigned = [n for n in functools.WRAPPER_ASSIGNMENTS if n in named or n not in _NAMES]

    own = {k: v for k, v in getattr(function, "__dict__", {}).items() if not k.startswith("_")}

    def decorate(wrapper: Callable[..., Any]) -> Callable[..., Any]:
        functools.update_wrapper(wrapper, function, assigned, ())
        vars(wrapper).update({k: v for k, v in own.items() if not hasattr(wrapper, k)})
        return wrapper

    return decorate


class SignatureOfWrapped:
    """The `__signature__` of objects that stand in the place of functions, for `inspect`."""

    def __get__(self, wrapper: Any, _: Any) -> inspect.Signature:
        if wrapper is None:  # the class has a signature of its own
            raise AttributeError("__signature__")
        return inspect.signature(wrapper.__wrapped__)
