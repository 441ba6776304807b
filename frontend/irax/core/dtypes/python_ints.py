"""Python integers beside arrays of integers, whose dtype they take.

A number that the dtype does not hold would wrap around, and nothing would tell. So it is refused.
One kind stays, since programs write it for a pattern of bits: a negative number of an unsigned
dtype that the signed dtype of the same size holds, such as -1 for all ones.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from irax import dtypes


class Range(NamedTuple):
    """The ends of a dtype of integers, and the least negative number that stands for its bits."""

    least: int
    greatest: int
    least_pattern: int


@functools.cache
def range_of(dtype: np.dtype[Any]) -> Range | None:
    """Return what a dtype of integers holds; None for other dtypes."""
    if isinstance(dtype, dtypes.KeyType) or not dtypes.issubdtype(dtype, np.integer):
        return None
    limits = dtypes.iinfo(dtype)
    least, greatest = int(limits.min), int(limits.max)
    return Range(least, greatest, least or -(greatest // 2) - 1)


def is_outside(x: Any, dtype: np.dtype[Any]) -> bool:
    """Return True for a Python integer that a dtype of integers does not hold."""
    if type(x) is not int or 0 <= x <= 1:
        return False
    held = range_of(dtype)
    return held is not None and not held.least <= x <= held.greatest


def fitted(x: Any, dtype: np.dtype[Any], what: str) -> Any:
    """Return `wide(x, dtype)`.

    Raises:
        OverflowError: a Python integer, and a dtype of integers that does not hold it. The message
            begins with `what`, the function and the argument.
    """
    if type(x) is not int or 0 <= x <= 1:
        return x
    held = range_of(dtype)
    if held is not None and not held.least_pattern <= x <= held.greatest:
        raise not_held(x, dtype, what)
    is_pattern = held is not None and x < held.least
    return wide(x % (held.greatest + 1) if is_pattern and held else x, dtype)


def wide(x: Any, dtype: np.dtype[Any]) -> Any:
    """Return a Python integer that is too large for the default dtype in the dtype that it is used
    in, if that holds it: an unsigned one, or one of floats. Anything else is returned as it is.
    """
    if type(x) is not int or abs(x) < 1 << 31:
        return x
    held = range_of(dtype)
    if held is not None:
        return np.array(x, dtype) if held.least <= x <= held.greatest else x
    return np.array(float(x)).astype(dtype) if dtypes.issubdtype(dtype, np.inexact) else x


def check_ints(operands: Iterable[Any], dtype: np.dtype[Any], what: str) -> None:
    """Check that a dtype holds the Python integers among operands, which take it.

    Raises:
        OverflowError: it does not hold one.
    """
    for x in operands:
        if type(x) is int and not 0 <= x <= 1:
            fitted(x, dtype, what)


def not_held(x: int, dtype: np.dtype[Any], what: str) -> OverflowError:
    """Return the error for an integer that its dtype does not hold."""
    held = range_of(dtype)
    assert held is not None
    wrapped = (x - held.least) % (held.greatest - held.least + 1) + held.least
    return OverflowError(
        f"{what}: the integer {x} doesn't fit into {dtype}, the dtype that it gets here, which "
        f"holds {held.least} to {held.greatest}: convert the array to a dtype that holds it, as "
        f"by .astype(irax.numpy.int32), or write {wrapped} for what it wraps around to "
        "(64-bit dtypes need irax.config.update('enable_x64', True))"
    )
