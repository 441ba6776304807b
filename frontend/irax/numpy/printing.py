"""Printing of arrays, as NumPy's are printed, under the name `Array`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from irax import errors
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.tracing import Tracer
from irax.typing import ArrayLike

_PREFIX = "Array("


def representation(x: ConcreteArray) -> str:
    """`Array([1., 2.], dtype=float32)`, over several lines where one is too short.

    >>> irax.numpy.arange(3)
    Array([0, 1, 2], dtype=int32)
    """
    if not _is_readable(x):
        return f"{_PREFIX}shape={x.shape}, dtype={x.dtype.name})"
    elements = np.array2string(x.value, prefix=_PREFIX, suffix=",", separator=", ")
    facts = f"dtype={x.dtype.name}"
    if not x.size:
        facts = f"shape={x.shape}, {facts}"
    if x.weak_type:
        facts += ", weak_type=True"
    last_line = (_PREFIX + elements).rpartition("\n")[2]
    width = np.get_printoptions()["linewidth"]
    gap = " " if len(last_line) + len(facts) + 3 <= width else "\n" + " " * len(_PREFIX)
    return f"{_PREFIX}{elements},{gap}{facts})"


def text(x: Array) -> str:
    """Return the elements as NumPy prints them; for a traced array, its type. In a function of
    shards that is called outside of traces, return the elements on each device.
    """
    if isinstance(x, ConcreteArray):
        return str(x.value) if _is_readable(x) else repr(x)
    known = x.home.text(x.value) if isinstance(x, Tracer) else None
    return repr(x) if known is None else known


def _is_readable(x: ConcreteArray) -> bool:
    """Return True if this process has all elements, which other processes may have a part of."""
    return x.is_fully_addressable or x.is_fully_replicated


def formatted(x: Array, spec: str) -> str:
    """Return the text of an array in an f-string: that of a Python number, which may have a format,
    for an array of shape (), and `str(x)` for others.

    Raises:
        TypeError: a format for an array that is not of shape ().
        ConcretizationTypeError: a format for a traced number.
    """
    if not spec and (x.ndim or not isinstance(x, ConcreteArray)):
        return str(x)
    if x.ndim:
        raise TypeError(
            f"the format {spec!r} is for a number, got an array of shape {x.shape}: format its "
            "elements one by one"
        )
    value: Any = x.concrete(f"the format {spec!r} needs the number", errors.ConcretizationTypeError)
    return format(value.item(), spec)


# ---- with options --------------------------------------------------------------------------------

# Arrays print by NumPy's options, so these are NumPy's functions.
set_printoptions: Callable[..., None] = np.set_printoptions
get_printoptions: Callable[[], Any] = np.get_printoptions
printoptions: Callable[..., AbstractContextManager[Any]] = np.printoptions


def _options(
    max_line_width: int | None, precision: int | None, suppress_small: bool | None
) -> dict[str, Any]:
    given = {"linewidth": max_line_width, "precision": precision, "suppress": suppress_small}
    return {name: value for name, value in given.items() if value is not None}


def array_repr(
    arr: ArrayLike,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """`repr(arr)`, with some of the options of `set_printoptions`.

    Args:
        arr: an array.
        max_line_width: the most characters in a line.
        precision: the most digits after the point.
        suppress_small: True to print tiny numbers as 0.

    Raises:
        TypeError: `arr` is not an array or a number, or `precision` is not an int.

    >>> irax.numpy.array_repr(irax.numpy.array([1 / 3]), precision=2)
    'Array([0.33], dtype=float32)'
    """
    with np.printoptions(**_options(max_line_width, precision, suppress_small)):
        return repr(as_array(arr, "array_repr"))


def array_str(
    a: ArrayLike,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """`str(a)`, with the options of `array_repr`.

    Args:
        a: an array.
        max_line_width: the most characters of a line; 75 by default.
        precision: the most digits after the point.
        suppress_small: True to write numbers that round to 0 as 0.

    Raises:
        TypeError: `a` is not an array or a number, or `precision` is not an int.

    >>> irax.numpy.array_str(irax.numpy.array([1 / 3]), precision=2)
    '[0.33]'
    """
    with np.printoptions(**_options(max_line_width, precision, suppress_small)):
        return str(as_array(a, "array_str"))
