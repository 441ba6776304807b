"""Element dtypes: their names in MLIR, and their kinds."""

from __future__ import annotations

from functools import cache

import ml_dtypes
import numpy as np

DTYPES: dict[str, np.dtype] = {
    "i1": np.dtype(np.bool_),
    "i2": np.dtype(ml_dtypes.int2),
    "ui2": np.dtype(ml_dtypes.uint2),
    "i4": np.dtype(ml_dtypes.int4),
    "ui4": np.dtype(ml_dtypes.uint4),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "ui8": np.dtype(np.uint8),
    "ui16": np.dtype(np.uint16),
    "ui32": np.dtype(np.uint32),
    "ui64": np.dtype(np.uint64),
    "f4E2M1FN": np.dtype(ml_dtypes.float4_e2m1fn),
    "f6E2M3FN": np.dtype(ml_dtypes.float6_e2m3fn),
    "f6E3M2FN": np.dtype(ml_dtypes.float6_e3m2fn),
    "f8E3M4": np.dtype(ml_dtypes.float8_e3m4),
    "f8E4M3": np.dtype(ml_dtypes.float8_e4m3),
    "f8E8M0FNU": np.dtype(ml_dtypes.float8_e8m0fnu),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "f8E4M3B11FNUZ": np.dtype(ml_dtypes.float8_e4m3b11fnuz),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "complex<f32>": np.dtype(np.complex64),
    "complex<f64>": np.dtype(np.complex128),
}
"""NumPy's dtype for each MLIR element type that irax knows, by its spelling."""


@cache
def inexact(dtype: np.dtype) -> bool:
    """True for floating-point (bfloat16 and the float8 kinds included) and complex dtypes."""
    return dtype.kind in "fc" or (dtype.kind == "V" and "float" in dtype.name)


@cache
def is_of_numpy(dtype: np.dtype) -> bool:
    """True for NumPy's numbers, False for those of ml_dtypes, one of which (float8_e5m2) has the
    kind of NumPy's floats. A dtype need not be the object that NumPy has for it: one that was
    pickled is another, which counts as not built in.
    """
    return dtype.kind in "biu" or (dtype.kind in "fc" and dtype.itemsize > 1)


@cache
def is_narrow_integer(dtype: np.dtype) -> bool:
    """True for integers of 2 and 4 bits, an element of which NumPy keeps in a byte."""
    return dtype.kind == "V" and not inexact(dtype)


@cache
def width(dtype: np.dtype) -> int:
    """The number of bits that an element has: 1 of a boolean, 4 of an int4."""
    if dtype == np.bool_:
        return 1
    if dtype.kind != "V":
        return 8 * dtype.itemsize
    return (ml_dtypes.finfo if inexact(dtype) else ml_dtypes.iinfo)(dtype).bits
