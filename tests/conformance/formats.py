"""Number formats: what each element type of StableHLO can hold, and exact rounding to it.

Rounding is of rational numbers, once, so that nothing here depends on how a library rounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class Float:
    """A binary floating-point format."""

    name: str
    dtype: np.dtype
    digits: int
    """The bits of the significand, with the leading one."""
    lowest: int
    """The exponent of the smallest normal number."""
    largest: float
    has_infinity: bool = True
    has_nan: bool = True
    has_negative_zero: bool = True
    has_sign: bool = True

    @property
    def is_ieee(self) -> bool:
        """True for formats in which every operation of IEEE 754 has its result."""
        return self.has_infinity and self.has_negative_zero

    @property
    def smallest_normal(self) -> float:
        return math.ldexp(1, self.lowest)

    @property
    def smallest(self) -> float:
        return math.ldexp(1, self.lowest - self.digits + 1)

    def spacing(self, x: float) -> float:
        """The distance of numbers of the size of x."""
        if x == 0 or not math.isfinite(x):
            return self.smallest
        return math.ldexp(1, max(math.frexp(x)[1] - 1, self.lowest) - self.digits + 1)

    def rounded(self, x: Fraction | float, negative: bool = False) -> float:
        """The nearest number, of two the even one; a zero with the sign given."""
        if not self.has_sign and not x > 0:
            return math.nan
        if isinstance(x, float):
            if not math.isfinite(x):
                return self.special(x)
            negative = negative or math.copysign(1, x) < 0
            x = Fraction(x)
        if x == 0:
            return -0.0 if negative and self.has_negative_zero else 0.0
        size = abs(x)
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        if size < Fraction(2) ** exponent:
            exponent -= 1
        quantum = Fraction(2) ** (max(exponent, self.lowest) - self.digits + 1)
        value = round(size / quantum) * quantum  # Python rounds a half to the even integer
        if value > self.largest:
            return self.special(-math.inf if x < 0 else math.inf)
        found = float(value)
        if found == 0 and not self.has_negative_zero:
            return 0.0
        return -found if x < 0 else found

    def special(self, x: float) -> float:
        """An infinity or nan, or what stands for it in a format without."""
        if math.isnan(x) or self.has_infinity:
            return x
        return math.nan if self.has_nan else math.copysign(self.largest, x)


def _float(name: str, dtype: type, digits: int, lowest: int, largest: float, **has: bool) -> Float:
    return Float(name, np.dtype(dtype), digits, lowest, largest, **has)


_FNUZ = {"has_infinity": False, "has_negative_zero": False}
_FINITE = {"has_infinity": False, "has_nan": False}

FLOATS = {
    one.name: one
    for one in (
        _float("f64", np.float64, 53, -1022, 1.7976931348623157e308),
        _float("f32", np.float32, 24, -126, (2 - 2**-23) * 2.0**127),
        _float("f16", np.float16, 11, -14, 65504.0),
        _float("bf16", ml_dtypes.bfloat16, 8, -126, (2 - 2**-7) * 2.0**127),
        _float("f8E5M2", ml_dtypes.float8_e5m2, 3, -14, 57344.0),
        _float("f8E4M3", ml_dtypes.float8_e4m3, 4, -6, 240.0),
        _float("f8E3M4", ml_dtypes.float8_e3m4, 5, -2, 15.5),
        _float("f8E4M3FN", ml_dtypes.float8_e4m3fn, 4, -6, 448.0, has_infinity=False),
        _float("f8E4M3FNUZ", ml_dtypes.float8_e4m3fnuz, 4, -7, 240.0, **_FNUZ),
        _float("f8E5M2FNUZ", ml_dtypes.float8_e5m2fnuz, 3, -15, 57344.0, **_FNUZ),
        _float("f8E4M3B11FNUZ", ml_dtypes.float8_e4m3b11fnuz, 4, -10, 30.0, **_FNUZ),
        _float("f6E2M3FN", ml_dtypes.float6_e2m3fn, 4, 0, 7.5, **_FINITE),
        _float("f6E3M2FN", ml_dtypes.float6_e3m2fn, 3, -2, 28.0, **_FINITE),
        _float("f4E2M1FN", ml_dtypes.float4_e2m1fn, 2, 0, 6.0, **_FINITE),
    )
}


@dataclass(frozen=True)
class Integer:
    """A two's complement or unsigned integer format; booleans are unsigned, of one bit."""

    name: str
    dtype: np.dtype
    bits: int
    signed: bool

    @property
    def smallest(self) -> int:
        return -(1 << self.bits - 1) if self.signed else 0

    @property
    def largest(self) -> int:
        return (1 << self.bits - self.signed) - 1

    def wrapped(self, x: int) -> int:
        """x modulo 2**bits."""
        x &= (1 << self.bits) - 1
        return x - (1 << self.bits) if x > self.largest else x


BOOLEAN = Integer("i1", np.dtype(np.bool_), 1, False)
INTEGERS = {
    one.name: one
    for one in (
        *(
            Integer(f"{prefix}{bits}", np.dtype(f"{kind}{bits // 8}"), bits, kind == "i")
            for prefix, kind in (("i", "i"), ("ui", "u"))
            for bits in (8, 16, 32, 64)
        ),
        Integer("i2", np.dtype(ml_dtypes.int2), 2, True),
        Integer("ui2", np.dtype(ml_dtypes.uint2), 2, False),
        Integer("i4", np.dtype(ml_dtypes.int4), 4, True),
        Integer("ui4", np.dtype(ml_dtypes.uint4), 4, False),
    )
}


@dataclass(frozen=True)
class Complex:
    """Pairs of floats."""

    name: str
    dtype: np.dtype
    part: Float


COMPLEXES = {
    "complex<f32>": Complex("complex<f32>", np.dtype(np.complex64), FLOATS["f32"]),
    "complex<f64>": Complex("complex<f64>", np.dtype(np.complex128), FLOATS["f64"]),
}

Format = Float | Integer | Complex
SCALE = _float(
    "f8E8M0FNU", ml_dtypes.float8_e8m0fnu, 1, -127, 2.0**127, has_infinity=False, has_sign=False
)
"""Powers of two, and nan: elements that are moved and converted, and not computed with."""
FORMATS: dict[str, Format] = {
    "i1": BOOLEAN,
    **INTEGERS,
    **FLOATS,
    SCALE.name: SCALE,
    **COMPLEXES,
}


def array(values: object, format: Format) -> np.ndarray:
    """Numbers that the format has, as an array of its dtype."""
    if isinstance(format, Integer):
        wide = np.array(values, dtype=object)
        flat = [int(x) for x in wide.ravel()]
        if format.bits < 8:
            return np.array(flat, np.int8).reshape(wide.shape).astype(format.dtype)
        return np.array(flat, format.dtype).reshape(wide.shape)
    if isinstance(format, Complex):
        return np.array(values, np.complex128).astype(format.dtype)
    with np.errstate(all="ignore"):
        return np.array(values, np.float64).astype(format.dtype)
