"""Order beside a Python integer that the dtype of an array does not hold.

All numbers of the dtype are on one side of it. So comparisons are known, and a bound either takes
nothing away or leaves nothing that the dtype holds.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from irax import dtypes, lax
from irax.core import source
from irax.core.array import Array, as_array
from irax.core.dtypes.operands import inexact_dtype
from irax.core.dtypes.promotion import convert
from irax.core.dtypes.python_ints import is_outside, not_held, range_of

_COMPARISONS = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}


def compared(name: str, x1: Any, x2: Any) -> Array | None:
    """Return what a comparison is everywhere; None where it depends on the elements."""
    found = _outside(x1, x2)
    if found is None:
        return None
    x, number, dtype = found
    if name in ("equal", "not_equal"):
        _warn_of_pattern(name, number, dtype)
    pair = (0, number) if number is x2 else (number, 0)
    return lax.full_like(as_array(x, name), _COMPARISONS[name](*pair), np.bool)


def bounded(name: str, x1: Any, x2: Any) -> Array | None:
    """Return what `maximum` or `minimum` takes nothing away from; None where neither number is one
    that the dtype does not hold.

    Raises:
        OverflowError: a bound beyond all numbers of the dtype.
    """
    found = _outside(x1, x2)
    if found is None:
        return None
    x, number, dtype = found
    if (number > 0) == (name == "maximum"):
        raise not_held(number, dtype, name)
    return convert(as_array(x, name), dtype)


def as_floats(x1: Any, x2: Any) -> tuple[Any, Any]:
    """Return operands of which one is beyond the dtype of the other as floats; others as they
    are.
    """
    if _outside(x1, x2) is None:
        return x1, x2
    return _as_float(x1), _as_float(x2)


def _as_float(x: Any) -> Any:
    if type(x) is int:
        return float(x)
    array = as_array(x)
    return convert(array, inexact_dtype(array.dtype))


def _outside(x1: Any, x2: Any) -> tuple[Any, int, np.dtype[Any]] | None:
    """Return the array, the number, and the dtype that does not hold it."""
    if type(x2) is int:
        x, number = x1, x2
    elif type(x1) is int:
        x, number = x2, x1
    else:
        return None
    own = getattr(x, "dtype", None)
    if 0 <= number <= 1 or (own is None and type(x) is not int):
        return None
    kind = "" if own is None else own.kind
    if kind == "f":
        return None
    dtype = np.dtype(own) if kind in ("i", "u") else dtypes.lattice_result_type(x, number)[0]
    return (x, number, dtype) if is_outside(number, dtype) else None


def _warn_of_pattern(name: str, number: int, dtype: np.dtype[Any]) -> None:
    held = range_of(dtype)
    if held is not None and held.least_pattern <= number < held.least:
        source.warn(
            f"{name}: no {dtype} is {number}, so this is the same for all elements, as in NumPy; "
            f"JAX compares with {number + held.greatest + 1}, which has these bits: write that",
            UserWarning,
        )
