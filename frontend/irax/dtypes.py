"""Dtypes: those of irax, their forms of 32 bits where 64-bit types are off, and their promotion.

The dtypes are the element types of StableHLO: NumPy's numbers and bool, and from ml_dtypes the
integers of 2 and 4 bits, the floats of 4, 6 and 8 bits, and bfloat16.

A Python int, float or complex is *weak*: it says what kind of number it is but not how wide, and
takes the width of what it meets. So `x + 1.5` keeps the dtype of a float16 array `x`.
"""

import functools
from typing import Any, Literal, cast, overload

import ml_dtypes
import numpy as np
from ml_dtypes import (
    bfloat16,
    finfo,
    float4_e2m1fn,
    float6_e2m3fn,
    float6_e3m2fn,
    float8_e3m4,
    float8_e4m3,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    iinfo,
    int2,
    int4,
    uint2,
    uint4,
)

from irax.config import config
from irax.core import strictness
from irax.core.dtype_lattice import (
    KEYS,
    SMALL_FLOATS,
    SMALL_INTS,
    TypePromotionError,
    least_upper_bound,
)

__all__ = [
    "KEY_TYPES",
    "KeyType",
    "TypePromotionError",
    "bfloat16",
    "can_cast",
    "canonicalize_dtype",
    "default_complex",
    "default_float",
    "default_int",
    "default_uint",
    "dtype_of",
    "extended",
    "finfo",
    "float0",
    "float4_e2m1fn",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "iinfo",
    "int2",
    "int4",
    "is_weakly_typed",
    "issubdtype",
    "itemsize_bits",
    "lattice_result_type",
    "prng_key",
    "promote_types",
    "requested_dtype",
    "result_type",
    "scalar_to_array",
    "scalar_type_of",
    "uint2",
    "uint4",
]

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


# ---- The dtypes ----

_NUMPY = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
_DTYPES = {name: np.dtype(name) for name in _NUMPY} | {
    name: np.dtype(getattr(ml_dtypes, name)) for name in (*SMALL_INTS, *SMALL_FLOATS, "bfloat16")
}
_DTYPES["float0"] = float0
_GENERATORS = ("threefry2x32", "threefry4x32", "philox2x32", "philox4x32", "rbg", "unsafe_rbg")
KEY_TYPES: dict[str, Any] = {
    generator: KeyType(name, generator, words)
    for name, generator, words in zip(KEYS, _GENERATORS, (2, 4, 1, 2, 4, 4), strict=True)
}
"""The dtypes of keys, by the names of their generators."""
_DTYPES |= {dtype.name: dtype for dtype in KEY_TYPES.values()}
_NARROWED = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}

# NumPy counts none of the dtypes of ml_dtypes as a number; these are the kinds that they are of.
_KINDS: dict[type, type] = {
    _DTYPES[name].type: np.unsignedinteger if name.startswith("u") else np.signedinteger
    for name in SMALL_INTS
} | {_DTYPES[name].type: np.floating for name in (*SMALL_FLOATS, "bfloat16")}


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
    return _canonical(_as_dtype(float if dtype is None else dtype), config.enable_x64)


def requested_dtype(dtype: Any, what: str) -> np.dtype[Any]:
    """Return `canonicalize_dtype(dtype)`, for a dtype that a user asks the function `what` for.

    Where that is narrower there is a UserWarning at the user's line. Python's int, float and
    complex ask for no width, so they are fine.

    Args:
        dtype: a dtype.
        what: the name of the function, for errors and warnings.

    Raises:
        TypeError: `dtype` is not a dtype.

    Example:
        >>> from irax.dtypes import requested_dtype
        >>> requested_dtype(int, "zeros")
        dtype('int32')
    """
    if hasattr(dtype, "weak_type"):
        raise ValueError(f"{what}: expected a dtype, got an array of {dtype.dtype}; give x.dtype")
    try:
        wanted = _as_dtype(dtype)
    except TypeError:
        told = f"{what}: {dtype!r} is not a dtype; give a name such as 'float32'"
        raise TypeError(told) from None
    available = _canonical(wanted, config.enable_x64)
    asks_for_width = not (isinstance(dtype, type) and dtype in (int, float, complex))
    if asks_for_width and not isinstance(wanted, KeyType) and available != wanted.newbyteorder("="):
        from irax.core import source

        source.warn(
            f"{what}: the dtype {wanted.name} was asked for, but 64-bit types are off, so it "
            f"becomes {available.name}; ask for that one, or turn them on: "
            'irax.config.update("enable_x64", True)',
            UserWarning,
        )
    return available


def _as_dtype(dtype: Any) -> np.dtype[Any]:
    if dtype is None:  # NumPy takes None for float64
        raise TypeError("None is not a dtype; give a name such as 'float32'")
    if isinstance(dtype, KeyType):
        return cast("np.dtype[Any]", dtype)
    return np.dtype(dtype)


@functools.cache
def _canonical(dtype: np.dtype[Any], x64: bool) -> np.dtype[Any]:
    name = _name(dtype)
    if name not in _DTYPES:
        raise TypeError(
            f"irax has no arrays of dtype {dtype}; it has bool, integers, floats and complex "
            "numbers: convert the array with .astype, or give a dtype"
        )
    return _DTYPES[name if x64 else _NARROWED.get(name, name)]


def _name(dtype: np.dtype[Any]) -> str:
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


@functools.cache
def issubdtype(a: Any, b: Any) -> bool:
    """Return True if a dtype is of a kind, as `numpy.issubdtype` does, for all dtypes of irax.

    Args:
        a: a dtype, or what `numpy.dtype` takes; or a kind.
        b: a kind, such as `numpy.floating` or `numpy.integer`; or a dtype.

    Raises:
        TypeError: `a` or `b` is not a dtype or a kind.

    Example:
        >>> import numpy as np
        >>> from irax.dtypes import bfloat16, int4, issubdtype
        >>> issubdtype(bfloat16, np.floating), issubdtype(int4, np.floating)
        (True, False)
    """
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
    return bool(np.can_cast(_as_dtype(from_), _as_dtype(to), casting))


def _scalar_type(dtype: Any) -> type:
    if isinstance(dtype, type) and issubclass(dtype, np.generic):
        return dtype
    return np.float64 if dtype is None else _as_dtype(dtype).type  # None as NumPy takes it


# ---- The dtype of a value ----

# As they are before canonicalization.
_PYTHON_SCALARS: dict[type, tuple[np.dtype[Any], bool]] = {
    bool: (np.dtype(np.bool), False),
    int: (np.dtype(np.int64), True),
    float: (np.dtype(np.float64), True),
    complex: (np.dtype(np.complex128), True),
}


def _dtype_and_weakness(x: Any) -> tuple[np.dtype[Any], bool]:
    """Return the dtype of `x` before canonicalization, and if it is weak."""
    scalar = _PYTHON_SCALARS.get(type(x))
    if scalar is not None:
        return scalar
    dtype = getattr(x, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype, getattr(x, "weak_type", False)
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
    dtype, weak = _dtype_and_weakness(x)
    return _canonical(dtype, config.enable_x64), weak


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
    return _dtype_and_weakness(x)[1]


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


# ---- Promotion ----


_WEAK = {"i*": _DTYPES["int64"], "f*": _DTYPES["float64"], "c*": _DTYPES["complex128"]}
_BOUNDS = _DTYPES | _WEAK


def _node(dtype: np.dtype[Any], weak: bool) -> str:
    if not weak:
        return _name(dtype)
    for node, kind in zip(_WEAK, (np.integer, np.floating, np.complexfloating), strict=True):
        if issubdtype(dtype, kind):
            return node
    return _name(dtype)  # bool: the lattice has no weak kind below it


@functools.lru_cache(maxsize=4096)
def _join(x64: bool, *operands: tuple[np.dtype[Any], bool]) -> tuple[np.dtype[Any], bool]:
    dtypes = [_canonical(dtype, x64) for dtype, _ in operands]
    weak = [weak for _, weak in operands]
    if len(set(dtypes)) == 1:
        return dtypes[0], all(weak) and dtypes[0] != np.bool
    # Among themselves, weak operands go by the widths that they do have.
    nodes = map(_name, dtypes) if all(weak) else map(_node, dtypes, weak)
    bound = least_upper_bound(set(nodes), x64)
    return _canonical(_BOUNDS[bound], x64), all(weak) or bound in _WEAK


def lattice_result_type(*args: Any) -> tuple[np.dtype[Any], bool]:
    """Return the dtype that values promote to, and True if it is weak.

    Args:
        args: one value or more, of the forms that `dtype_of` takes.

    Raises:
        TypePromotionError: there is no common dtype (a ValueError).
        TypeError: a value of no dtype, or of one that irax doesn't support.
        ValueError: no values.

    Example:
        >>> import numpy as np
        >>> from irax.dtypes import lattice_result_type
        >>> lattice_result_type(np.int8(1), 2.5)
        (dtype('float32'), True)
    """
    if not args:
        raise ValueError("expected at least one array, scalar or dtype to promote")
    found = join(*args)
    if config.numpy_dtype_promotion == "strict":
        judge_dtypes(*args)
    return found


def join(*args: Any) -> tuple[np.dtype[Any], bool]:
    """Return `lattice_result_type`, whatever the option `numpy_dtype_promotion` is."""
    return _join(config.enable_x64, *map(_dtype_and_weakness, args))


def judge_dtypes(*args: Any) -> None:
    """Raises TypePromotionError where the option `numpy_dtype_promotion` would not have operands of
    the user's promoted together: those that are not weak are not of the dtype that comes out.
    """
    if config.numpy_dtype_promotion != "strict":
        return
    operands = [_dtype_and_weakness(x) for x in strictness.judged(args) if x is not None]
    if len(operands) < 2:
        return
    result, _ = _join(config.enable_x64, *operands)
    known = [_canonical(dtype, config.enable_x64) for dtype, weak in operands if not weak]
    if any(dtype != result for dtype in known):
        names = ", ".join(sorted({dtype.name for dtype in known}))
        raise TypePromotionError(
            f"operands of dtype {names} would become {result.name}, and the option "
            "numpy_dtype_promotion is 'strict': convert them with .astype"
        )


@overload
def result_type(*args: Any, return_weak_type_flag: Literal[False] = False) -> np.dtype[Any]: ...
@overload
def result_type(*args: Any, return_weak_type_flag: bool) -> Any: ...
def result_type(*args: Any, return_weak_type_flag: bool = False) -> Any:
    """Return the dtype that values promote to; what it takes and raises is `lattice_result_type`'s.

    Args:
        args: what has a dtype, or is one; None stands for the default float, as in NumPy.
        return_weak_type_flag: whether to return also if it is a weak type.

    Raises:
        TypeError: an argument is neither a value nor a dtype.

    Example:
        >>> import numpy as np
        >>> from irax.dtypes import result_type
        >>> result_type(np.float16(1), 2.5), result_type(np.uint8(1), np.int8(1))
        (dtype('float16'), dtype('int16'))
    """
    found = lattice_result_type(*(np.dtype(x) if x is None else x for x in args))
    return found if return_weak_type_flag else found[0]


def promote_types(a: Any, b: Any) -> np.dtype[Any]:
    """Return the dtype that two dtypes promote to; int, float and complex stand for weak types.

    The dtypes are taken as they are: a 64-bit one stays, whatever `enable_x64` says.

    Args:
        a: a dtype, or the type int, float or complex.
        b: another one.

    Raises:
        TypePromotionError: there is no common dtype (a ValueError).
        TypeError: there is no such dtype, or irax doesn't support it.

    Example:
        >>> from irax.dtypes import promote_types
        >>> promote_types("float16", "bfloat16"), promote_types("int8", float)
        (dtype('float32'), dtype('float64'))
    """
    judge_dtypes(a, b)
    nodes = {
        _node(_canonical(dtype, True), weak) for dtype, weak in map(_dtype_and_weakness, (a, b))
    }
    return _BOUNDS[least_upper_bound(nodes, config.enable_x64)]


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

    >>> irax.dtypes.itemsize_bits("int4")
    4
    """
    found = _as_dtype(dtype)
    if found == np.bool_:
        return 8
    if issubdtype(found, np.integer):
        return iinfo(found).bits
    return finfo(found).bits if issubdtype(found, np.floating) else 8 * found.itemsize
