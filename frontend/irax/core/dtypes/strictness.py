"""The options `numpy_dtype_promotion` and `numpy_rank_promotion`, which judge the user's operands.

A library function is judged by what it was given. How it then mixes dtypes and ranks inside is not
the user's concern. So while one runs, `config.given` knows the user's operands, by identity, and no
others are judged. Functions of the user's that it calls are outside of it again.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from irax.config import config
from irax.core import origins
from irax.core.wrapping import wraps
from irax_runtime.device import Device

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Class = TypeVar("_Class", bound=type)


class Given:
    """The user's operands of the library function that runs: arrays, and numbers with a fraction.

    Integers of Python's are operands where `numbers` says so; elsewhere they are axes and sizes.
    """

    def __init__(self, values: Sequence[Any], numbers: bool) -> None:
        self._kinds = (float, complex, int) if numbers else (float, complex)
        self._operands: dict[int, Any] = {}  # they are kept, so that no other gets their ids
        for x in values:
            self._add(x)

    def _add(self, x: Any) -> None:
        if isinstance(x, list | tuple | dict):
            for part in x.values() if isinstance(x, dict) else x:
                self._add(part)
        elif isinstance(x, self._kinds) or (hasattr(type(x), "dtype") and hasattr(x, "shape")):
            self._operands[id(x)] = x

    def __contains__(self, x: Any) -> bool:
        return id(x) in self._operands

    def carry(self, x: Any, same: Any) -> Any:
        """Return `same`, an array made from `x`; it counts as the user's operand if `x` does."""
        if x in self:
            self._operands[id(same)] = same
        return same


def judged(operands: Sequence[Any]) -> Sequence[Any]:
    """Return the operands that the options judge."""
    given = config.given
    return operands if given is None else [x for x in operands if x in given]


def library(function: _Function, numbers: bool = False) -> _Function:
    """Decorator: options about promotion judge the user's operands of the function alone.

    With `numbers`, integers of Python's are operands too.
    """

    @functools.wraps(function)
    def entered(*args: Any, **kwargs: Any) -> Any:
        lenient = config.numpy_dtype_promotion == "standard"
        if (lenient and config.numpy_rank_promotion == "allow") or config.given is not None:
            return function(*args, **kwargs)
        given = Given([*args, *kwargs.values()], numbers)
        args = tuple(map(_outside, args))
        kwargs = {name: _outside(x) for name, x in kwargs.items()}
        with config.scoped("given", given):
            return function(*args, **kwargs)

    return entered  # pyright: ignore[reportReturnType]


def library_methods(cls: _Class) -> _Class:
    """Class decorator: its methods are library functions."""
    for name, value in list(vars(cls).items()):
        if name.startswith("_") and name not in _METHODS:
            continue
        if inspect.isfunction(value):
            setattr(cls, name, library(value))
        elif isinstance(value, classmethod):
            setattr(cls, name, classmethod(library(value.__func__)))
    return cls


_METHODS = ("__init__", "__call__", "__mul__", "__getitem__")


def _outside(x: Any) -> Any:
    """Return an argument whose functions of the user's run outside of the library's judgement."""
    if type(x) in (list, tuple) and any(map(_is_users, x)):
        return type(x)(map(_outside, x))
    return _released(x) if _is_users(x) else x


def _released(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def outside(*args: Any, **kwargs: Any) -> Any:
        with config.scoped("given", None):
            return function(*args, **kwargs)

    return outside


_library_classes: set[type] = set()


def library_class(cls: _Class) -> _Class:
    """Decorator of a class of functions of the library's, which wrap others."""
    _library_classes.add(cls)
    return cls


def _is_users(x: Any) -> bool:
    """Return True for a function of the user's, or one of irax's that wraps it."""
    if not callable(x) or isinstance(x, type | np.dtype | Device):
        return False
    if origins.module_of(type(x)).startswith("irax."):
        return hasattr(x, "__wrapped__") and type(x) not in _library_classes
    home = sys.modules.get(origins.module_of(x))
    by_name = getattr(home, getattr(x, "__name__", ""), None) is x
    if by_name and home is not None and home.__name__.startswith("irax"):
        return False
    from irax.tree_util import all_leaves

    return all_leaves([x])
