"""The dtypes as attributes of `irax.numpy`: `float32` is a dtype, and `float32(3)` an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array
from irax.execution.replay import fixed


@fixed
class ScalarType:
    """A dtype that makes arrays when it is called; equal to the NumPy dtype it stands for.

    Args:
        x: an array, a number, or nested lists of numbers.

    Raises:
        TypeError: not an array or a number.

    >>> irax.numpy.float32(3)
    Array(3., dtype=float32)
    """

    def __init__(self, dtype: Any) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.__name__ = self.dtype.name

    def __call__(self, x: Any = 0) -> Array:
        from irax.numpy.creation import array

        return array(x, self.dtype)

    def __eq__(self, other: object) -> bool:
        # NumPy's dtypes are equal to names of dtypes: strings, `float`, None (float64).
        if isinstance(other, ScalarType | np.dtype):
            return bool(self.dtype == other)
        if isinstance(other, type) and issubclass(other, np.generic):
            return bool(self.dtype == other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"irax.numpy.{self.dtype.name}"

    def __reduce__(self) -> Any:
        return ScalarType, (self.dtype,)


bool_: ScalarType = ScalarType("bool")
int8: ScalarType = ScalarType("int8")
int16: ScalarType = ScalarType("int16")
int32: ScalarType = ScalarType("int32")
int64: ScalarType = ScalarType("int64")
uint8: ScalarType = ScalarType("uint8")
uint16: ScalarType = ScalarType("uint16")
uint32: ScalarType = ScalarType("uint32")
uint64: ScalarType = ScalarType("uint64")
int2: ScalarType = ScalarType(dtypes.int2)
uint2: ScalarType = ScalarType(dtypes.uint2)
int4: ScalarType = ScalarType(dtypes.int4)
uint4: ScalarType = ScalarType(dtypes.uint4)
float4_e2m1fn: ScalarType = ScalarType(dtypes.float4_e2m1fn)
float6_e2m3fn: ScalarType = ScalarType(dtypes.float6_e2m3fn)
float6_e3m2fn: ScalarType = ScalarType(dtypes.float6_e3m2fn)
bfloat16: ScalarType = ScalarType(dtypes.bfloat16)
float16: ScalarType = ScalarType("float16")
float32: ScalarType = ScalarType("float32")
float64: ScalarType = ScalarType("float64")
float8_e4m3fn: ScalarType = ScalarType(dtypes.float8_e4m3fn)
float8_e5m2: ScalarType = ScalarType(dtypes.float8_e5m2)
float8_e3m4: ScalarType = ScalarType(dtypes.float8_e3m4)
float8_e4m3: ScalarType = ScalarType(dtypes.float8_e4m3)
float8_e8m0fnu: ScalarType = ScalarType(dtypes.float8_e8m0fnu)
float8_e4m3fnuz: ScalarType = ScalarType(dtypes.float8_e4m3fnuz)
float8_e5m2fnuz: ScalarType = ScalarType(dtypes.float8_e5m2fnuz)
float8_e4m3b11fnuz: ScalarType = ScalarType(dtypes.float8_e4m3b11fnuz)
complex64: ScalarType = ScalarType("complex64")
complex128: ScalarType = ScalarType("complex128")
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
