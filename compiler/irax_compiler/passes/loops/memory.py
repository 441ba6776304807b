"""Values as arrays in memory hold them: numbers without sign, and booleans as bytes."""

from __future__ import annotations

import numpy as np

from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import conversion
from irax_compiler.passes.loops.registers import signless_dtype


def held_dtype(x: Value) -> np.dtype:
    """Of the array that holds a value."""
    dtype = dtype_of(x)
    return np.dtype(np.int8) if dtype == np.bool_ else signless_dtype(dtype)


def held(x: Value) -> Value:
    """The array that holds a value."""
    if dtype_of(x) == np.bool_:
        return conversion.convert(x, held_dtype(x))
    return _seen_as(x, held_dtype(x))


def released(x: Value, dtype: np.dtype) -> Value:
    """The value of `dtype` that an array holds."""
    return conversion.convert(x, dtype) if dtype == np.bool_ else _seen_as(x, dtype)


def _seen_as(x: Value, dtype: np.dtype) -> Value:
    if dtype == dtype_of(x):
        return x
    return conversion.BitcastConvert(shape_of(x), dtype)(x)
