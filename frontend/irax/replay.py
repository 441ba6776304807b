"""Functions made of many operations, outside of traces: written down once, then run through.

An operation outside of traces takes some microseconds of Python, and functions such as `median` are
made of dozens. So the second call with arguments of the same types traces the function, and from
then on what was traced is evaluated. Nothing is compiled: the evaluator is the one that runs single
operations.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from irax import errors, tree_util
from irax.array import Array, ConcreteArray, as_array
from irax.config import config
from irax.tracing import Input, Traced, call, current_trace, trace_function

_Function = TypeVar("_Function", bound=Callable[..., Any])

_MOST = 512
"""How many kinds of calls of a function are kept."""

_STATIC = (int, float, str, bool, type(None))


def replayed(function: _Function) -> _Function:
    """The same function, faster outside of traces where it is called in the same way again.

    It must be one whose course depends on no element of an array.
    """
    kept: dict[Any, tuple[Traced, Any] | None] = {}

    @functools.wraps(function)
    def replaying(*args: Any, **kwargs: Any) -> Any:
        if current_trace() is not None or config.debug_nans or config.debug_infs:
            return function(*args, **kwargs)
        arrays: list[Array] = []
        key: list[Any] = [config.traced, *kwargs]
        for x in (*args, *kwargs.values()):
            if type(x) is ConcreteArray and not x.committed:
                arrays.append(x)
                key.append(x.aval)
            elif _is_static(x):
                key.append((type(x), repr(x)))  # as text, 0.0 and -0.0 differ and nan is itself
            else:
                return function(*args, **kwargs)
        place = tuple(key)
        found = kept.get(place, _NEW)
        if found is _NEW:
            if len(kept) >= _MOST:
                kept.clear()
            kept[place] = None
        if found is _NEW or found is _NEVER:
            return function(*args, **kwargs)
        if found is None:
            try:
                found = kept[place] = _traced(function, args, kwargs)
            except _UNKNOWN:
                kept[place] = _NEVER
                return function(*args, **kwargs)
        traced, tree = found
        results = call(traced.builder, traced.name, [*arrays, *traced.captures], traced.weak)
        return tree_util.tree_unflatten(tree, results)

    return replaying  # pyright: ignore[reportReturnType]


_NEW: Any = object()
_NEVER: Any = object()
_UNKNOWN = (
    errors.JAXTypeError,
    errors.JAXIndexError,
    errors.UnexpectedTracerError,
)
"""What is raised where a function needs elements all the same."""


def _is_static(x: Any) -> bool:
    return type(x) in _STATIC or (type(x) is tuple and all(map(_is_static, x)))


def _traced(function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Traced, Any]:
    """The function of the arrays among the arguments, and the structure of its result."""
    values = [*args, *kwargs.values()]
    places = [i for i, x in enumerate(values) if isinstance(x, Array)]
    tree: Any = None

    def of_arrays(*arrays: Array) -> list[Array]:
        nonlocal tree
        for i, x in zip(places, arrays, strict=True):
            values[i] = x
        by_name = zip(kwargs, values[len(args) :], strict=True)
        leaves, tree = tree_util.tree_flatten(function(*values[: len(args)], **dict(by_name)))
        return [as_array(x) for x in leaves]

    inputs = [Input(values[i].aval) for i in places]
    traced = trace_function(of_arrays, inputs, "replay", function.__name__, fresh_module=True)
    return traced, tree
