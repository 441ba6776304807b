"""Checks and completion of arguments, shared by functions of `irax.lax` and `irax.numpy`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from irax import dtypes, errors
from irax.core import source
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.dimensions import size_of
from irax.core.dtypes.operands import as_arrays, check_number
from irax.core.dtypes.promotion import convert
from irax.core.dtypes.python_ints import check_ints
from irax.core.examples import EXAMPLES

F = TypeVar("F", bound=Callable[..., Any])


def canonical_int(what: str, name: str, value: Any) -> int:
    """Return the argument `name` of the function `what` as an int.

    Raises:
        TypeError: it is none; a traced one has no value yet.
    """
    try:
        return size_of(value)
    except errors.JAXTypeError:  # a traced array
        raise
    except TypeError:
        raise TypeError(f"{what}: {name} must be an int, got {value!r}") from None


# ---- shapes and axes -----------------------------------------------------------------------------


def canonical_shape(what: str, shape: Any) -> tuple[int, ...]:
    """Return a shape as a tuple of ints; an int stands for one dimension.

    Raises:
        TypeError: a size is no int, or is negative; a traced one has no value yet.
        ValueError: no memory holds so many elements.
    """
    try:
        single = hasattr(shape, "__index__") and not getattr(shape, "ndim", 0)
        sizes: Any = (shape,) if single else shape
        sizes = tuple(map(size_of, sizes))
    except errors.JAXTypeError:  # a traced array
        raise
    except TypeError as error:
        raise TypeError(f"{what}: expected a shape of ints, got {shape!r}: {error}") from None
    if any(n < 0 for n in sizes):
        raise TypeError(f"{what}: expected sizes of at least 0, got shape {sizes}")
    check_number(what, sizes)
    return sizes


def canonical_axis(what: str, axis: Any, ndim: int) -> int:
    """Return an axis as a number from 0 on.

    Raises:
        TypeError: it is not an int.
        AxisError: an array of `ndim` dimensions has no such axis: a ValueError, and an IndexError.
    """
    axis = canonical_int(what, "axis", axis)
    if not -ndim <= axis < ndim:
        expected = f"expected {-ndim} to {ndim - 1}" if ndim else "a scalar has no axes"
        raise np.exceptions.AxisError(
            f"{what}: axis {axis} is out of bounds for an array of dimension {ndim}; {expected}"
        )
    return axis % ndim


def listed_axes(axis: Any) -> tuple[Any, ...]:
    """Return one axis, or several (a vector of ints or a set among others), as a tuple."""
    is_vector = isinstance(axis, np.ndarray | Array) and axis.ndim == 1
    several = is_vector or isinstance(axis, tuple | list | range | set | frozenset)
    return tuple(axis) if several else (axis,)


def canonical_axes(what: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """One axis, several, or (None) all of them, counted from the start.

    Raises:
        TypeError: not ints.
        ValueError: there is no such axis, or one is there twice.
    """
    if axis is None:
        return tuple(range(ndim))
    axes = tuple(canonical_axis(what, a, ndim) for a in listed_axes(axis))
    if len(set(axes)) != len(axes):
        raise ValueError(f"{what}: axis={axis} names an axis twice")
    return axes


# ---- arrays --------------------------------------------------------------------------------------


def array_of(what: str, x: Any, toward: np.dtype[Any] | None = None) -> Array:
    """Return `as_array(x)`, fast for arrays; errors name the function."""
    return x if isinstance(x, Array) else as_array(x, what, toward)


def converting(what: str, x: Any, dtype: np.dtype[Any] | None) -> Array:
    """Return `array_of(x)` for a conversion: numbers that need 64 bits keep them."""
    if type(x) is int and -(2**63) <= x < 2**64:
        return ConcreteArray(np.asarray(x), weak_type=True)
    return array_of(what, x, dtype)


def drops_imaginary(dtype: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    """Return True if a conversion drops the imaginary parts of complex numbers."""
    return dtype.kind == "c" and wanted.kind not in "cb"


def warn_of_imaginary(dtype: np.dtype[Any], wanted: np.dtype[Any]) -> None:
    """Warn, as NumPy does, of complex numbers whose imaginary parts a conversion drops."""
    if drops_imaginary(dtype, wanted):
        source.warn(
            "Casting complex values to real discards the imaginary part",
            np.exceptions.ComplexWarning,
        )


def filling(what: str, x: Any, dtype: np.dtype[Any] | None) -> Array:
    """Return `converting(x)` for a fill value.

    Raises:
        OverflowError: `dtype`, where it is given, is one of integers and does not hold the int.
    """
    if dtype is not None:
        check_ints([x], dtype, f"{what}: fill_value")
    return converting(what, x, dtype)


def strict(what: str, *operands: Any) -> list[Array]:
    """The operands as arrays that may go together in lax.

    Raises:
        OverflowError: a Python integer that their dtype does not hold.
        TypeError: they differ in dtype (a Python number takes that of the others, if of their
            kind), or in shape other than by being scalars or 1 along a dimension.
    """
    arrays = as_arrays(operands, what)
    first = arrays[0].aval
    if all(x.aval.dtype == first.dtype and x.aval.shape == first.shape for x in arrays):
        return arrays
    dtype, _ = dtypes.join(*arrays)
    check_ints(operands, dtype, what)
    arrays = [adapted(x, dtype) for x in arrays]
    if len({x.dtype for x in arrays}) > 1:
        listed = " and ".join(str(x.dtype) for x in arrays)
        raise TypeError(
            f"{what}: got dtypes {listed}; expected one dtype: convert with "
            f"lax.convert_element_type, or call the function of irax.numpy, which promotes"
        )
    shapes = [x.shape for x in arrays if x.ndim]
    if any(len(s) != len(shapes[0]) for s in shapes) or not _fit(shapes):
        listed = " and ".join(str(x.shape) for x in arrays)
        raise TypeError(f"{what}: got shapes {listed}; expected one shape, or scalars")
    return arrays


def adapted(x: Array, dtype: np.dtype[Any]) -> Array:
    """Return a weakly typed array, such as a Python number, in a dtype if that is of its kind."""
    kind = np.integer if dtypes.issubdtype(x.dtype, np.integer) else np.floating
    fits = x.weak_type and all(dtypes.issubdtype(d, kind) for d in (x.dtype, dtype))
    return convert(x, dtype, True) if fits else x


def _fit(shapes: list[tuple[int, ...]]) -> bool:
    return all(len(set(sizes) - {1}) <= 1 for sizes in zip(*shapes, strict=True))


# ---- functions made from tables ------------------------------------------------------------------


def documented(function: F, name: str, doc: str, module: str = "irax.lax") -> F:
    """Give a function that was made from a table its name, and its docstring with an example."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    example = EXAMPLES[module].get(name) if module in EXAMPLES else None
    function.__doc__ = f"{doc}\n\n{example}" if example else doc
    return function
