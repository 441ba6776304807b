"""The bytes of narrow floats from float32 and back, by operations on bits."""

from __future__ import annotations

from functools import cache

import ml_dtypes
import numpy as np

from irax_compiler.ops.core import full_like
from irax_compiler.ops.elementwise import round_nearest_even
from irax_compiler.ops.formula import Number, function, where

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
U8, U32 = np.dtype(np.uint8), np.dtype(np.uint32)
E8M0 = np.dtype(ml_dtypes.float8_e8m0fnu)
_LEAST = -126
"""The exponent of float32's smallest normal number."""


def rounded_to_odd(x: Number, dtype: np.dtype) -> Number:
    """Round float64 to float32 to odd, of which a narrower dtype is then rounded correctly."""
    near = x.to(F32)
    back, bits = near.to(F64), near.bits(np.int32)
    kept = back.equals(x) | (bits & 1).equals(1)
    # One of the two floats around x is odd. As integers they are neighbours, by their sizes.
    neighbour = where(abs(back) > abs(x), bits - 1, bits + 1)
    found = where(kept, near, neighbour.bits(F32))
    if ml_dtypes.finfo(dtype).minexp > _LEAST:
        return found
    # Subnormal numbers of float32 count steps. The processor would flush them.
    is_small = abs(x) < 2.0**_LEAST
    steps = where(is_small, abs(x), 0.0) * 2.0**149
    count = steps.to(U32)
    sign = (x.bits(np.uint64) >> 32).to(U32) & (1 << 31)
    odd = count | (steps > count.to(F64)).to(U32) | sign
    return where(is_small, odd.bits(F32), found)


def rounded_to_float32(x: Number) -> Number:
    """Round float64 to the numbers of float32, the subnormal ones too, as float64."""
    bits = x.bits(np.uint64)
    normal = (bits + ((1 << 28) - 1) + ((bits >> 29) & 1)) & -(1 << 29) % (1 << 64)
    is_small = abs(x) < 2.0**_LEAST
    steps = function(round_nearest_even, where(is_small, x, 0.0) * 2.0**149)
    return where(is_small, steps * 2.0**-149, normal.bits(F64))


def decoded(code: Number, dtype: np.dtype) -> Number:
    """Return as float32 the numbers of a narrow dtype that have the bytes `code`."""
    code = code.to(U32)
    if dtype == E8M0:
        bits = where(code.equals(0), 1 << 22, code << 23)
        return where(code.equals(255), 0x7FC00000, bits).bits(F32)
    info = ml_dtypes.finfo(dtype)
    place = info.bits - 1
    size, sign = code & ((1 << place) - 1), ((code >> place) & 1) << 31
    normal = ((size << (23 - info.nmant)) + ((127 - _bias(dtype)) << 23)).bits(F32)
    subnormal = size.to(F32) * float(info.smallest_subnormal)
    number = where(size < (1 << info.nmant), subnormal, normal)
    bits = number.bits(U32) | sign
    values = np.arange(1 << info.bits, dtype=np.uint8).view(dtype).astype(np.float32)
    if np.isinf(values).any():
        infinity = int(np.flatnonzero(values == np.inf)[0])
        bits = where(size.equals(infinity), sign | 0x7F800000, bits)
        bits = where(size > infinity, sign | 0x7FC00000, bits)
    elif np.isnan(values[1 << place]):  # the only one, with the bits of a negative zero
        bits = where(code.equals(1 << place), 0xFFC00000, bits)
    elif np.isnan(values[-1]):  # one of each sign
        bits = where(size.equals((1 << place) - 1), sign | 0x7FC00000, bits)
    return bits.bits(F32)


def decoded_scales(code: Number) -> Number:
    """Return as float64 the numbers of float8_e8m0fnu that have the bytes `code`."""
    bits = (code.to(np.uint64) + (1023 - 127)) << 52
    return where(code.equals(255), np.nan, bits.bits(F64))


def encoded(x: Number, dtype: np.dtype) -> Number:
    """Return the bytes of float32 numbers, rounded to a narrow dtype: to nearest, ties to even.
    Overflow and nan become what they do in ml_dtypes.
    """
    bits = x.bits(U32)
    size, is_negative = bits & 0x7FFFFFFF, (bits >> 31).equals(1)
    if dtype == E8M0:
        # As in ml_dtypes ties go up, and all above the least number that are below the second.
        code = where(size < (1 << 23), (size > (1 << 22)).to(U32), (size + (1 << 22)) >> 23)
        is_none = is_negative | size.equals(0) | (code > 254)
        return where(is_none, 255, code).to(U8)
    info = ml_dtypes.finfo(dtype)
    dropped = 23 - info.nmant
    rounded = (size + ((1 << (dropped - 1)) - 1) + ((size >> dropped) & 1)) >> dropped
    normal = rounded - ((127 - _bias(dtype)) << info.nmant)
    smallest = float(info.smallest_normal)
    is_subnormal = size < int(np.float32(smallest).view(np.uint32))
    steps = where(is_subnormal, size.bits(F32), 0.0) * (1 / float(info.smallest_subnormal))
    count = function(round_nearest_even, steps).to(U32)
    code = where(is_subnormal, count, normal)
    most, over, under, nan, negative_nan, negative_zero = _codes(dtype)
    is_over = code > most
    signed = where(code.equals(0), negative_zero, code | (1 << (info.bits - 1)))
    finite = where(is_negative, signed, code)
    overflow = where(is_negative, _all(code, under), _all(code, over))
    none = where(is_negative, _all(code, negative_nan), _all(code, nan))
    return where(size > 0x7F800000, none, where(is_over, overflow, finite)).to(U8)


def neighbour(code: Number, other: Number, dtype: np.dtype) -> Number:
    """Return the byte of the number next to that of `code` in the direction of another."""
    if dtype == E8M0:  # without signs and zero
        step = where(other > code, code + 1, code - 1)
        found = where(code.equals(other), code, step)
        return where(code.equals(255) | other.equals(255), 255, found)
    x, y = decoded(code, dtype), decoded(other, dtype)
    sign, (*_, nan, _, negative_zero) = 1 << (ml_dtypes.finfo(dtype).bits - 1), _codes(dtype)
    is_away = where(x < 0, y < x, y > x)
    step = where(is_away, code + 1, code - 1)
    step = where(step.equals(sign), negative_zero, step)
    step = where(x.equals(0), where(y < 0, _all(code, sign | 1), 1), step)
    found = where(x.equals(y), other, step)
    return where(x.equals(x) & y.equals(y), found, _all(code, nan))


def _bias(dtype: np.dtype) -> int:
    return 1 - int(ml_dtypes.finfo(dtype).minexp)


@cache
def _codes(dtype: np.dtype) -> list[int]:
    """Return the bytes of the greatest number, and of the infinities, nans and negative zero."""
    nan = np.float32(np.nan)
    numbers = [float(ml_dtypes.finfo(dtype).max), np.inf, -np.inf, nan, np.copysign(nan, -1), -0.0]
    return np.array(numbers, np.float32).astype(dtype).view(np.uint8).tolist()


def _all(like: Number, code: int) -> Number:
    return Number(full_like(like.value, code))
