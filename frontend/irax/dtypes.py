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

from irax.core.dtypes.kinds import KEY_TYPES as KEY_TYPES
from irax.core.dtypes.kinds import KeyType as KeyType
from irax.core.dtypes.kinds import available_dtype as available_dtype
from irax.core.dtypes.kinds import can_cast as can_cast
from irax.core.dtypes.kinds import canonicalize_dtype as canonicalize_dtype
from irax.core.dtypes.kinds import default_complex as default_complex
from irax.core.dtypes.kinds import default_float as default_float
from irax.core.dtypes.kinds import default_int as default_int
from irax.core.dtypes.kinds import default_uint as default_uint
from irax.core.dtypes.kinds import extended as extended
from irax.core.dtypes.kinds import float0 as float0
from irax.core.dtypes.kinds import issubdtype as issubdtype
from irax.core.dtypes.kinds import prng_key as prng_key
from irax.core.dtypes.kinds import requested_dtype as requested_dtype
from irax.core.dtypes.lattice import TypePromotionError
from irax.core.dtypes.result_types import join as join
from irax.core.dtypes.result_types import judge_dtypes as judge_dtypes
from irax.core.dtypes.result_types import lattice_result_type as lattice_result_type
from irax.core.dtypes.result_types import promote_types as promote_types
from irax.core.dtypes.result_types import result_type as result_type
from irax.core.dtypes.values import dtype_of as dtype_of
from irax.core.dtypes.values import is_weakly_typed as is_weakly_typed
from irax.core.dtypes.values import itemsize_bits as itemsize_bits
from irax.core.dtypes.values import scalar_to_array as scalar_to_array
from irax.core.dtypes.values import scalar_type_of as scalar_type_of

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
