"""The signature that a compiled function carries: `f32[4,4];i32[]`.

The compiler writes it into the function's reflection attributes (`irax.args`, `irax.results`):
one entry for each argument or result, MLIR's name of the element type and the dimensions. With it
arguments are checked before a call, and results need not be asked what they are after each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np


@dataclass(frozen=True, repr=False)
class TensorType:
    """The dtype and shape of an argument or a result. A symbolic size is its text, `2*n`."""

    dtype: np.dtype[Any]
    shape: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.dtype.name}[{','.join(map(str, self.shape))}]"

    __repr__ = __str__


_NAMES = {
    "i1": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "ui8": "uint8",
    "ui16": "uint16",
    "ui32": "uint32",
    "ui64": "uint64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
}
_ML_DTYPES = {
    "i2": "int2",
    "i4": "int4",
    "ui2": "uint2",
    "ui4": "uint4",
    "f4E2M1FN": "float4_e2m1fn",
    "f6E2M3FN": "float6_e2m3fn",
    "f6E3M2FN": "float6_e3m2fn",
    "bf16": "bfloat16",
    "f8E3M4": "float8_e3m4",
    "f8E4M3": "float8_e4m3",
    "f8E8M0FNU": "float8_e8m0fnu",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2": "float8_e5m2",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
}


@cache
def dtype_of_name(name: str) -> np.dtype[Any]:
    """NumPy's dtype of an MLIR element type. Raises ValueError for one it has none for."""
    if name in _NAMES:
        return np.dtype(_NAMES[name])
    if name in _ML_DTYPES:
        import ml_dtypes  # only programs with such types need it

        return np.dtype(getattr(ml_dtypes, _ML_DTYPES[name]))
    raise ValueError(f"element type {name} has no dtype here")


def parse_signature(text: str) -> list[TensorType]:
    """The types in a text such as `f32[4,4];i32[]`.

    >>> parse_signature("f32[max(m, n),4]")
    [float32[max(m, n),4]]
    """
    types = []
    for item in filter(None, text.split(";")):
        name, _, dimensions = item.rstrip("]").partition("[")
        shape = tuple(int(n) if n.isdigit() else n for n in _parts(dimensions))
        types.append(TensorType(dtype_of_name(name), shape))
    return types


def _parts(text: str) -> list[str]:
    """Split a text at the commas that are in no parentheses."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [part for part in found if part]
