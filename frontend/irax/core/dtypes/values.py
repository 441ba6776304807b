"""The dtypes of values, and whether they are weak."""

import functools
from typing import Any, cast

import numpy as np
from ml_dtypes import (
    finfo,
    iinfo,
)

from irax.config import config
from irax.core.dtypes.kinds import KeyType, as_dtype, canonical, issubdtype, keeps_wide

# As they are before canonicalization.
_PYTHON_SCALARS: dict[type, tuple[np.dtype[Any], bool]] = {
    bool: (np.dtype(np.bool), False),
    int: (np.dtype(np.int64), True),
    float: (np.dtype(np.float64), True),
    complex: (np.dtype(np.complex128), True),
}


def dtype_and_weakness(x: Any) -> tuple[np.dtype[Any], bool]:
    """Return the dtype of `x` before canonicalization, and if it is weak."""
    scalar = _PYTHON_SCALARS.get(type(x))
    if scalar is not None:
        return scalar
    dtype = getattr(x, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype, getattr(x, "weak_type", False)
    if isinstance(dtype, type | str) and hasattr(x, "shape"):  # a struct of somebody's own
        return as_dtype(dtype), getattr(x, "weak_type", False)
    if isinstance(x, type) and x in _PYTHON_SCALARS:
        return _PYTHON_SCALARS[x]
    if isinstance(x, type | str | np.dtype):
        return np.dtype(x), False
    for key_type in (dtype, x):
        if isinstance(key_type, KeyType):
            return cast("np.dtype[Any]", key_type), False
    for python_type in (int, float, complex):  # subclasses, such as that of an enumeration
        if isinstance(x, python_type):
            return _PYTHON_SCALARS[python_type]
    raise TypeError(
        f"expected an array, a Python or NumPy scalar, or a dtype, got {type(x).__name__}"
    )


def dtype_of(x: Any) -> tuple[np.dtype[Any], bool]:
    """Return the dtype that a value has in irax, and True if it is weak.

    Args:
        x: an array or NumPy scalar (anything with `dtype` and perhaps `weak_type`), a Python
            scalar, or what stands for a value: a dtype, its name or type, or int, float, complex.

    Raises:
        TypeError: `x` is none of these, or of a dtype that irax doesn't support.

    Example:
        >>> import numpy as np
        >>> from irax.dtypes import dtype_of
        >>> dtype_of(1.5), dtype_of(np.float64(1.5))
        ((dtype('float32'), True), (dtype('float32'), False))
    """
    dtype, weak = dtype_and_weakness(x)
    return canonical(dtype, config.enable_x64 or has_wide(x)), weak


def has_wide(x: Any) -> bool:
    """Return True for what keeps 64 bits while 64-bit types are off: arrays and their types, which
    had them when they were made, and dtypes where the option `explicit_x64_dtypes` allows.
    """
    if hasattr(x, "weak_type"):
        return True
    is_dtype = isinstance(x, str | np.dtype | type) and x not in _PYTHON_SCALARS
    return is_dtype and keeps_wide()


def is_weakly_typed(x: Any) -> bool:
    """Return True if the dtype of a value is weak: it gives way to that of another operand.

    Args:
        x: an array, a number, or a dtype.

    Raises:
        TypeError: `x` is neither an array, a scalar nor a dtype.

    Example:
        >>> import numpy as np
        >>> from irax.dtypes import is_weakly_typed
        >>> is_weakly_typed(1), is_weakly_typed(np.int32(1)), is_weakly_typed(True)
        (True, False, False)
    """
    return dtype_and_weakness(x)[1]


def scalar_to_array(x: Any) -> np.ndarray[Any, Any]:
    """Return a Python or NumPy scalar as an array of shape () and canonical dtype.

    Whether the value is weak, the array can't say: ask `is_weakly_typed`.

    Args:
        x: a Python or NumPy scalar.

    Raises:
        OverflowError: an integer that its dtype can't hold.
        TypeError: `x` isn't a scalar of a dtype that irax supports.

    Example:
        >>> from irax.dtypes import scalar_to_array
        >>> scalar_to_array(3)
        array(3, dtype=int32)
    """
    if not isinstance(x, bool | int | float | complex | np.generic):
        raise TypeError(f"expected a Python or NumPy scalar, got {type(x).__name__}")
    dtype, _ = dtype_of(x)
    if dtype.kind in "iu":
        _check_range(x, dtype)
    return np.asarray(x, dtype)


_limits = functools.cache(np.iinfo)


def _check_range(x: Any, dtype: np.dtype[Any]) -> None:
    limits = _limits(dtype)
    if not limits.min <= x <= limits.max:
        raise OverflowError(
            f"the integer {x} doesn't fit into {dtype}, the dtype that it gets here: make it an "
            "array of a dtype that holds it, or keep 64-bit integers with "
            'irax.config.update("enable_x64", True)'
        )


def scalar_type_of(x: Any) -> type:
    """Return the Python type of a value's elements: bool, int, float or complex.

    Args:
        x: an array, a number, or a dtype.

    Raises:
        TypeError: a value of no dtype, or of one whose elements are no numbers.

    Example:
        >>> import numpy as np
        >>> from irax.dtypes import scalar_type_of
        >>> scalar_type_of(np.zeros(2, "int8"))
        <class 'int'>
    """
    dtype = dtype_of(x)[0]
    kinds = {bool: np.bool_, int: np.integer, float: np.floating, complex: np.complexfloating}
    for python_type, kind in kinds.items():
        if issubdtype(dtype, kind):
            return python_type
    raise TypeError(f"scalar_type_of: elements of dtype {dtype} are no numbers")


def itemsize_bits(dtype: Any) -> int:
    """Return the number of bits of an element of a dtype: 4 for int4, 8 for bool.

    Args:
        dtype: a dtype.

    Raises:
        TypeError: `dtype` is not a dtype.
        ValueError: it is None.

    >>> irax.dtypes.itemsize_bits("int4")
    4
    """
    if dtype is None:
        raise ValueError("itemsize_bits: expected a dtype, got None")
    found = as_dtype(dtype)
    if found == np.bool_:
        return 8
    if issubdtype(found, np.integer):
        return iinfo(found).bits
    return finfo(found).bits if issubdtype(found, np.floating) else 8 * found.itemsize
