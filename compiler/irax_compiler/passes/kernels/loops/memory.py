"""Types of values in memory: signless numbers, booleans as bytes, complex numbers as two real
ones.
"""

from __future__ import annotations

import numpy as np

from irax_compiler.mlir import (
    RankedTensorType,
    Type,
    Value,
    dtype_of,
    inexact,
    shape_of,
    tensor_type,
)
from irax_compiler.ops import bitcast, conversion, elementwise, fft, shape, slicing
from irax_compiler.ops.registers import signless_dtype


def stored_dtype(dtype: np.dtype) -> np.dtype:
    """Return the dtype of memory that holds numbers or booleans of a dtype."""
    return np.dtype(np.int8) if dtype == np.bool_ else signless_dtype(dtype)


def held_dtype(x: Value) -> np.dtype:
    """Return the dtype of the array that holds a value."""
    dtype = dtype_of(x)
    return fft.real_dtype(dtype) if dtype.kind == "c" else stored_dtype(dtype)


def held_shape(x: Value) -> tuple[int, ...]:
    """Return the shape of the array that holds a value."""
    return (*shape_of(x), 2) if dtype_of(x).kind == "c" else shape_of(x)


def held(x: Value) -> Value:
    """Convert a value to the array that holds it."""
    if dtype_of(x).kind == "c":
        column = (*shape_of(x), 1)
        parts = (shape.reshape(part(x), column) for part in (elementwise.real, elementwise.imag))
        return slicing.Concatenate(len(column) - 1)(*parts)
    if dtype_of(x) == np.bool_:
        return conversion.convert(x, held_dtype(x))
    return seen_as(x, held_dtype(x))


def released(x: Value, dtype: np.dtype) -> Value:
    """Convert an array to the value of `dtype` that it holds."""
    if dtype.kind == "c":
        *extents, _ = shape_of(x)
        last = len(extents)
        parts = (shape.reshape(slicing.slice_in_dim(x, i, i + 1, last), extents) for i in (0, 1))
        return elementwise.complex_(*parts)
    return conversion.convert(x, dtype) if dtype == np.bool_ else seen_as(x, dtype)


def seen_as(x: Value, dtype: np.dtype) -> Value:
    """Bitcast a value to another dtype of the same width."""
    if dtype == dtype_of(x):
        return x
    return bitcast.BitcastConvert(shape_of(x), dtype)(x)


def is_plain(x: Value) -> bool:
    """True for an array of numbers that kernels compute with, not for the meter of a loop."""
    if not isinstance(x.type, RankedTensorType):
        return False
    dtype = dtype_of(x)
    is_number = dtype.kind in "biu" or (inexact(dtype) and dtype.kind != "c" and dtype.itemsize > 1)
    return is_number and 0 not in shape_of(x)


# ---- bindings of dispatches, which take booleans and complex numbers as they are -----------------


def bound(x: Value) -> Value:
    """Convert a value to the array that a dispatch takes."""
    return seen_as(x, bound_dtype(x))


def bound_type(x: Value, head: tuple[int, ...] = ()) -> Type:
    """Return the type of the array that a dispatch returns for a value, or for several."""
    return tensor_type((*head, *shape_of(x)), bound_dtype(x))


def unbound(x: Value, like: Value) -> Value:
    """Convert an array that a dispatch returns to the dtype of a value."""
    return seen_as(x, dtype_of(like))


def bound_dtype(x: Value) -> np.dtype:
    """Return the dtype of the array that a dispatch takes or returns for a value."""
    return dtype_of(x) if dtype_of(x).kind in "bc" else held_dtype(x)
