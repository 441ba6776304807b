"""Dtypes: those of irax, their forms of 32 bits where 64-bit types are off, and their promotion.

The dtypes are the element types of StableHLO: NumPy's numbers and bool, and from ml_dtypes the
integers of 2 and 4 bits, the floats of 4, 6 and 8 bits, and bfloat16.

A Python int, float or complex is *weak*: it says what kind of number it is but not how wide, and
takes the width of what it meets. So `x + 1.5` keeps the dtype of a float16 array `x`.
"""

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

from irax.core.dtype_kinds import KEY_TYPES as KEY_TYPES
from irax.core.dtype_kinds import KeyType as KeyType
from irax.core.dtype_kinds import can_cast as can_cast
from irax.core.dtype_kinds import canonicalize_dtype as canonicalize_dtype
from irax.core.dtype_kinds import default_complex as default_complex
from irax.core.dtype_kinds import default_float as default_float
from irax.core.dtype_kinds import default_int as default_int
from irax.core.dtype_kinds import default_uint as default_uint
from irax.core.dtype_kinds import extended as extended
from irax.core.dtype_kinds import float0 as float0
from irax.core.dtype_kinds import issubdtype as issubdtype
from irax.core.dtype_kinds import prng_key as prng_key
from irax.core.dtype_kinds import requested_dtype as requested_dtype
from irax.core.dtype_lattice import TypePromotionError
from irax.core.dtype_promotion import join as join
from irax.core.dtype_promotion import judge_dtypes as judge_dtypes
from irax.core.dtype_promotion import lattice_result_type as lattice_result_type
from irax.core.dtype_promotion import promote_types as promote_types
from irax.core.dtype_promotion import result_type as result_type
from irax.core.dtype_values import dtype_of as dtype_of
from irax.core.dtype_values import is_weakly_typed as is_weakly_typed
from irax.core.dtype_values import itemsize_bits as itemsize_bits
from irax.core.dtype_values import scalar_to_array as scalar_to_array
from irax.core.dtype_values import scalar_type_of as scalar_type_of

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
