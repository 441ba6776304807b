"""The dtypes of irax: canonical forms, defaults, and the kinds that they are of."""

import functools
from typing import Any, cast

import ml_dtypes
import numpy as np

from irax.config import config
from irax.core.dtypes.lattice import KEYS, SMALL_FLOATS, SMALL_INTS

float0: np.dtype[np.void] = np.dtype([("float0", np.void, 0)])
"""The dtype of a tangent that can only be zero: that of an integer or a bool."""


class extended(np.generic):
    """The kind of dtypes whose elements are not numbers."""


class prng_key(extended):
    """The kind of the dtypes of typed random keys."""


class KeyType:
    """The dtype of the typed random keys of a generator; each key has a number of words of uint32.

    Attributes:
        name: of the dtype, such as "key<fry>".
        generator: the name of the generator, such as "threefry2x32".
        words: the number of words of a key.
    """

    type = prng_key
    kind = "V"
    num = -1

    def __init__(self, name: str, generator: str, words: int) -> None:
        self.name: str = name
        self.generator: str = generator
        self.words: int = words
        self.itemsize: int = 4 * words

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeyType) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


_NUMPY = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
DTYPES = {name: np.dtype(name) for name in _NUMPY} | {
    name: np.dtype(getattr(ml_dtypes, name)) for name in (*SMALL_INTS, *SMALL_FLOATS, "bfloat16")
}
DTYPES["float0"] = float0
_GENERATORS = ("threefry2x32", "threefry4x32", "philox2x32", "philox4x32", "rbg", "unsafe_rbg")
KEY_TYPES: dict[str, Any] = {
    generator: KeyType(name, generator, words)
    for name, generator, words in zip(KEYS, _GENERATORS, (2, 4, 1, 2, 4, 4), strict=True)
}
"""The dtypes of keys, by the names of their generators."""
DTYPES |= {dtype.name: dtype for dtype in KEY_TYPES.values()}
_NARROWED = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}

# NumPy counts none of the dtypes of ml_dtypes as a number; these are the kinds that they are of.
_KINDS: dict[type, type] = {
    DTYPES[name].type: np.unsignedinteger if name.startswith("u") else np.signedinteger
    for name in SMALL_INTS
} | {DTYPES[name].type: np.floating for name in (*SMALL_FLOATS, "bfloat16")}


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> np.dtype[Any]:
    """Return the dtype that an array of this dtype gets in irax.

    With the option `enable_x64` that is the same dtype, in native byte order; without it, a 64-bit
    dtype becomes the one of 32 bits (complex128 becomes complex64).

    Args:
        dtype: a dtype, its name, a NumPy or ml_dtypes scalar type, or bool, int, float or complex;
            None is float.
        allow_extended_dtype: accepted; dtypes of keys stay as they are.

    Raises:
        TypeError: there is no such dtype, or irax doesn't support it.

    Example:
        >>> from irax.dtypes import canonicalize_dtype
        >>> canonicalize_dtype(float)
        dtype('float32')
    """
    return canonical(as_dtype(float if dtype is None else dtype), config.enable_x64)


def requested_dtype(dtype: Any, what: str) -> np.dtype[Any]:
    """Return `canonicalize_dtype(dtype)`, for a dtype that a user asks the function `what` for.

    Where that is narrower there is a UserWarning at the user's line, unless the option
    `explicit_x64_dtypes` says otherwise. Python's int, float and complex ask for no width, so they
    are fine.

    Args:
        dtype: a dtype.
        what: the name of the function, for errors and warnings.

    Raises:
        TypeError: `dtype` is not a dtype.
        ValueError: it is narrower, and that is an "error".

    Example:
        >>> from irax.dtypes import requested_dtype
        >>> requested_dtype(int, "zeros")
        dtype('int32')
    """
    if hasattr(dtype, "weak_type") and hasattr(dtype, "__array__"):
        raise ValueError(f"{what}: expected a dtype, got an array of {dtype.dtype}; give x.dtype")
    try:
        wanted = as_dtype(dtype)
    except TypeError:
        told = f"{what}: {dtype!r} is not a dtype; give a name such as 'float32'"
        if isinstance(dtype, int | float | complex | list | tuple):
            told += (
                ". It stands in the place of the dtype: a shape is one tuple, and what follows the "
                "dtype is given by name"
            )
        raise TypeError(told) from None
    available = available_dtype(dtype)
    if (
        _asks_for_width(dtype)
        and not isinstance(wanted, KeyType)
        and available != wanted.newbyteorder("=")
    ):
        told = f"{what}: the dtype {wanted.name} was asked for, but 64-bit types are off"
        cure = 'turn them on: irax.config.update("enable_x64", True)'
        if config.explicit_x64_dtypes == "error":
            raise ValueError(f"{told}; ask for {available.name}, or {cure}")
        from irax.core import source

        so = f"{told}, so it becomes {available.name}; ask for that one, or {cure}"
        source.warn(so, UserWarning)
    return available


def available_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the dtype that an array gets that is asked for with this one: a narrower one where
    64-bit types are off, unless the option `explicit_x64_dtypes` allows them.
    """
    wide = _asks_for_width(dtype) and keeps_wide()
    return canonical(as_dtype(dtype), config.enable_x64 or wide)


def _asks_for_width(dtype: Any) -> bool:
    return not (isinstance(dtype, type) and dtype in (int, float, complex))


def keeps_wide() -> bool:
    """Return True if 64-bit types that are asked for stay, whatever `enable_x64` says."""
    return config.explicit_x64_dtypes == "allow"


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the dtype that a name, a type or a dtype stands for."""
    if dtype is None:  # NumPy takes None for float64
        raise TypeError("None is not a dtype; give a name such as 'float32'")
    if isinstance(dtype, KeyType):
        return cast("np.dtype[Any]", dtype)
    return np.dtype(dtype)


def is_of_arrays(dtype: np.dtype[Any]) -> bool:
    """Return True for a dtype that arrays can have."""
    return name_of(dtype) in DTYPES


@functools.cache
def canonical(dtype: np.dtype[Any], x64: bool) -> np.dtype[Any]:
    """Return a dtype, narrowed to 32 bits if 64-bit types are off."""
    if not is_of_arrays(dtype):
        raise TypeError(
            f"irax has no arrays of dtype {dtype}; it has bool, integers, floats and complex "
            "numbers: convert the array with .astype, or give a dtype"
        )
    name = name_of(dtype)
    return DTYPES[name if x64 else _NARROWED.get(name, name)]


def name_of(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype in the lattice."""
    return "float0" if dtype == float0 else dtype.name


def default_int() -> np.dtype[Any]:
    """Return the dtype of a Python int: int32, or int64 with `enable_x64`.

    >>> irax.dtypes.default_int()
    dtype('int32')
    """
    return canonicalize_dtype(np.int64)


def default_uint() -> np.dtype[Any]:
    """Return the widest unsigned dtype there is now: uint32, or uint64 with `enable_x64`.

    >>> irax.dtypes.default_uint()
    dtype('uint32')
    """
    return canonicalize_dtype(np.uint64)


def default_float() -> np.dtype[Any]:
    """Return the dtype of a Python float: float32, or float64 with `enable_x64`.

    >>> irax.dtypes.default_float()
    dtype('float32')
    """
    return canonicalize_dtype(np.float64)


def default_complex() -> np.dtype[Any]:
    """Return the dtype of a Python complex: complex64, or complex128 with `enable_x64`.

    >>> irax.dtypes.default_complex()
    dtype('complex64')
    """
    return canonicalize_dtype(np.complex128)


def issubdtype(a: Any, b: Any) -> bool:
    """Return True if a dtype is of a kind, as `numpy.issubdtype` does, for all dtypes of irax.

    Args:
        a: a dtype, or what `numpy.dtype` takes; or a kind; or an array, for its dtype.
        b: a kind, such as `numpy.floating` or `numpy.integer`; or a dtype.

    Raises:
        TypeError: `a` or `b` is not a dtype or a kind.

    Example:
        >>> import numpy as np
        >>> from irax.dtypes import bfloat16, int4, issubdtype
        >>> issubdtype(bfloat16, np.floating), issubdtype(int4, np.floating)
        (True, False)
    """
    try:
        return _is_of_kind(a, b)
    except TypeError:  # an array has no hash
        return _is_of_kind(_scalar_type(a), _scalar_type(b))


@functools.cache
def _is_of_kind(a: Any, b: Any) -> bool:
    scalar, ancestor = _scalar_type(a), _scalar_type(b)
    return issubclass(scalar, ancestor) or issubclass(_KINDS.get(scalar, scalar), ancestor)


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Return True if NumPy's casting rules allow a conversion, for all dtypes of irax.

    Args:
        from_: a dtype, or what `numpy.dtype` takes.
        to: likewise.
        casting: "no", "equiv", "safe", "same_kind" or "unsafe": see `numpy.can_cast`.

    Raises:
        TypeError: `from_` or `to` is not a dtype.
        ValueError: `casting` is not one of these rules.

    Example:
        >>> from irax.dtypes import can_cast
        >>> can_cast("int8", "float32"), can_cast("float32", "int8")
        (True, False)
    """
    return bool(np.can_cast(as_dtype(from_), as_dtype(to), casting))


def _scalar_type(dtype: Any) -> type:
    if isinstance(dtype, type) and issubclass(dtype, np.generic):
        return dtype
    return np.float64 if dtype is None else as_dtype(dtype).type  # None as NumPy takes it
