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

    >>> irax.numpy.float32(3)
    Array(3., dtype=float32)
    """

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self.__name__ = self.dtype.name

    def __call__(self, x: Any = 0) -> Array:
        from irax.numpy.creation import array

        return array(x, self.dtype)

    def __eq__(self, other: object) -> bool:
        # NumPy's dtypes are equal to what only names one: strings, `float`, None (float64).
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


bool_ = ScalarType("bool")
int8, int16, int32, int64 = (ScalarType(f"int{n}") for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (ScalarType(f"uint{n}") for n in (8, 16, 32, 64))
int2, uint2 = ScalarType(dtypes.int2), ScalarType(dtypes.uint2)
int4, uint4 = ScalarType(dtypes.int4), ScalarType(dtypes.uint4)
float4_e2m1fn = ScalarType(dtypes.float4_e2m1fn)
float6_e2m3fn, float6_e3m2fn = ScalarType(dtypes.float6_e2m3fn), ScalarType(dtypes.float6_e3m2fn)
bfloat16 = ScalarType(dtypes.bfloat16)
float16, float32, float64 = (ScalarType(f"float{n}") for n in (16, 32, 64))
float8_e4m3fn, float8_e5m2 = ScalarType(dtypes.float8_e4m3fn), ScalarType(dtypes.float8_e5m2)
float8_e3m4, float8_e4m3 = ScalarType(dtypes.float8_e3m4), ScalarType(dtypes.float8_e4m3)
float8_e8m0fnu = ScalarType(dtypes.float8_e8m0fnu)
float8_e4m3fnuz = ScalarType(dtypes.float8_e4m3fnuz)
float8_e5m2fnuz = ScalarType(dtypes.float8_e5m2fnuz)
float8_e4m3b11fnuz = ScalarType(dtypes.float8_e4m3b11fnuz)
complex64, complex128 = ScalarType("complex64"), ScalarType("complex128")
int_, uint, float_, complex_ = int64, uint64, float64, complex128
half, single, double = float16, float32, float64
csingle, cdouble = complex64, complex128

# Kinds of dtypes, for `issubdtype`.
generic, number, integer = np.generic, np.number, np.integer
signedinteger, unsignedinteger = np.signedinteger, np.unsignedinteger
inexact, floating, complexfloating = np.inexact, np.floating, np.complexfloating
# Kinds that no array of irax is of.
character, flexible, object_ = np.character, np.flexible, np.object_
