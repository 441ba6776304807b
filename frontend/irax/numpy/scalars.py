"""The dtypes as attributes of `irax.numpy`: `float32` is a dtype, and `float32(3)` an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array
from irax.execution.replay import fixed


@fixed
class ScalarType(type):
    """A dtype as a class, whose calls make arrays; equal to the NumPy dtype it stands for.

    Args:
        x: an array, a number, or nested lists of numbers.

    Raises:
        TypeError: not an array or a number.

    >>> irax.numpy.float32(3)
    Array(3., dtype=float32)
    """

    dtype: np.dtype[Any]

    def __call__(self, x: Any = 0) -> Array:
        from irax.numpy.creation import array

        return array(x, self.dtype)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, self.dtype.type)

    def __eq__(self, other: object) -> bool:
        # NumPy's dtypes are equal to names of dtypes: strings, `float`, None (float64).
        if isinstance(other, ScalarType):
            return bool(self.dtype == other.dtype)
        if isinstance(other, np.dtype):
            return bool(self.dtype == other)
        if isinstance(other, type) and issubclass(other, np.generic):
            return bool(self.dtype == other)
        return NotImplemented

    def __hash__(self) -> int:
        # NumPy's dtypes have another hash than their types, which these stand for.
        return hash(self.dtype.type)


def _scalar_type(dtype: Any) -> ScalarType:
    """Return the class of a dtype."""
    dtype = np.dtype(dtype)
    names = {"dtype": dtype, "__module__": "irax.numpy", "__doc__": f"Makes arrays of {dtype}."}
    return ScalarType(dtype.name, (), names)


bool_: ScalarType = _scalar_type("bool")
int8: ScalarType = _scalar_type("int8")
int16: ScalarType = _scalar_type("int16")
int32: ScalarType = _scalar_type("int32")
int64: ScalarType = _scalar_type("int64")
uint8: ScalarType = _scalar_type("uint8")
uint16: ScalarType = _scalar_type("uint16")
uint32: ScalarType = _scalar_type("uint32")
uint64: ScalarType = _scalar_type("uint64")
int2: ScalarType = _scalar_type(dtypes.int2)
uint2: ScalarType = _scalar_type(dtypes.uint2)
int4: ScalarType = _scalar_type(dtypes.int4)
uint4: ScalarType = _scalar_type(dtypes.uint4)
float4_e2m1fn: ScalarType = _scalar_type(dtypes.float4_e2m1fn)
float6_e2m3fn: ScalarType = _scalar_type(dtypes.float6_e2m3fn)
float6_e3m2fn: ScalarType = _scalar_type(dtypes.float6_e3m2fn)
bfloat16: ScalarType = _scalar_type(dtypes.bfloat16)
float16: ScalarType = _scalar_type("float16")
float32: ScalarType = _scalar_type("float32")
float64: ScalarType = _scalar_type("float64")
float8_e4m3fn: ScalarType = _scalar_type(dtypes.float8_e4m3fn)
float8_e5m2: ScalarType = _scalar_type(dtypes.float8_e5m2)
float8_e3m4: ScalarType = _scalar_type(dtypes.float8_e3m4)
float8_e4m3: ScalarType = _scalar_type(dtypes.float8_e4m3)
float8_e8m0fnu: ScalarType = _scalar_type(dtypes.float8_e8m0fnu)
float8_e4m3fnuz: ScalarType = _scalar_type(dtypes.float8_e4m3fnuz)
float8_e5m2fnuz: ScalarType = _scalar_type(dtypes.float8_e5m2fnuz)
float8_e4m3b11fnuz: ScalarType = _scalar_type(dtypes.float8_e4m3b11fnuz)
complex64: ScalarType = _scalar_type("complex64")
complex128: ScalarType = _scalar_type("complex128")
int_: ScalarType = int64
uint: ScalarType = uint64
float_: ScalarType = float64
complex_: ScalarType = complex128
half: ScalarType = float16
single: ScalarType = float32
double: ScalarType = float64
csingle: ScalarType = complex64
cdouble: ScalarType = complex128

# Kinds of dtypes, for `issubdtype`.
generic = np.generic
number = np.number
integer = np.integer
signedinteger = np.signedinteger
unsignedinteger = np.unsignedinteger
inexact = np.inexact
floating = np.floating
complexfloating = np.complexfloating
# Kinds that no dtype of irax has.
character = np.character
flexible = np.flexible
object_ = np.object_
